// `npm run bench` and `npm run bench:…`: compiles the files that changed since the last compilation, and runs the named
// program. Types are not checked: `npm run typecheck` does that, and takes half a minute.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const folders = ['server/src', 'wallet/src', 'demo/src', 'bench']

/** The folder of the compiled programs. The files that they import have the same relative paths as in the checkout. */
export const compiled = join(root, 'bench/dist/bench')

export async function compile() {
  const stale = folders.flatMap(staleFiles)
  if (stale.length === 0) return
  const { transform } = await import('oxc-transform')
  await Promise.all(stale.map((file) => transpile(transform, file)))
}

function staleFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('dist'))
    .map((name) => ({
      source: join(root, folder, name),
      output: join(root, 'bench/dist', folder, name.replace(/\.ts$/, '.js')),
    }))
    .filter(({ source, output }) => changedAt(output) < changedAt(source))
}

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

async function transpile(transform, { source, output }) {
  const { code, errors } = await transform(source, readFileSync(source, 'utf8'), {
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  })
  if (errors.length > 0) throw new Error(`${source}: ${errors[0].message}`)
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, code)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [program] = process.argv.splice(2, 1)
  await compile()
  process.argv[1] = join(compiled, `${program}.js`)
  await import(process.argv[1])
}
