// Compiles TypeScript to JavaScript file by file, without a type check (that is `npm run typecheck`): a start does not
// need it, and the type checker takes half a minute. The output is that of `npm run build`, except for declarations.
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const packages = ['sdk', 'conformance', 'server', 'wallet', 'demo']

/**
 * Compiles the files that changed since they were compiled, and copies the other files beside them.
 * @returns {Promise<number>} the number of compiled files
 * @throws {Error} that names the file and its syntax error
 */
export async function transpileStale() {
  // The resources of the SDK are generated from the description of the API.
  const generated = join(root, 'sdk/src/generated/operations.ts')
  if (changedAt(generated) < changedAt(join(root, 'openapi.json'))) await import('../../sdk/scripts/generate.js')
  const stale = packages.flatMap((name) => staleFiles(join(root, name)))
  if (stale.length > 0) {
    const { transform } = await import('oxc-transform')
    await Promise.all(stale.map((file) => transpile(transform, file)))
  }
  await import('../../server/scripts/copy-sql.js')
  await import('../../wallet/scripts/copy-migrations.js')
  if (isPageStale()) await import('../../wallet/scripts/build-page.js')
  return stale.length
}

function isPageStale() {
  const builtAt = changedAt(join(root, 'wallet/dist/signing/assets/sign.js'))
  const folder = join(root, 'wallet/page')
  return readdirSync(folder).some((name) => changedAt(join(folder, name)) > builtAt)
}

function staleFiles(folder) {
  return readdirSync(join(folder, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/(^|\/)testing\//.test(name))
    .map((name) => ({ source: join(folder, 'src', name), output: join(folder, 'dist', name.replace(/\.ts$/, '.js')) }))
    .filter(({ source, output }) => changedAt(output) < changedAt(source))
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

async function transpile(transform, { source, output }) {
  const { code, errors } = await transform(source, readFileSync(source, 'utf8'), {
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  })
  if (errors.length > 0) throw new Error(`${source}: ${errors[0].message}`)
  mkdirSync(dirname(output), { recursive: true })
  // Written to another name and renamed, so that an interrupted start leaves no partial file that looks up to date.
  const draft = `${output}.${process.pid}`
  writeFileSync(draft, code)
  renameSync(draft, output)
}
