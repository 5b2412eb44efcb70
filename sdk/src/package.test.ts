import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildSdk } from './testing/build.ts'
import { runProgram } from './testing/run-program.ts'
import { type Stack, startStack } from './testing/stack.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const sdk = join(root, 'sdk')
const readme = readFileSync(join(sdk, 'README.md'), 'utf8')

type Packed = { filename: string; unpackedSize: number; files: { path: string; size: number }[] }

let stack: Stack
let temporary: string
let packed: Packed
/** A project that has installed the package, and nothing of this repository. */
let project: string

beforeAll(async () => {
  buildSdk()
  // As `prepack` does before the package is made.
  execFileSync(process.execPath, ['scripts/indent.js'], { cwd: sdk })
  temporary = mkdtempSync(join(tmpdir(), 'strongroom-sdk-'))
  packed = pack(sdk)
  project = join(temporary, 'project')
  install(packed.filename, pack(join(root, 'node_modules/openapi-fetch')).filename)
  stack = await startStack()
})
afterAll(async () => {
  await stack?.close()
  rmSync(temporary, { recursive: true, force: true })
})

function pack(folder: string): Packed {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary]
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })) as [Packed]
  return packed
}

/** From files alone: the helpers are types of openapi-fetch, which npm takes from here as well. */
function install(...filenames: string[]): void {
  const helpers = pack(join(root, 'node_modules/openapi-typescript-helpers')).filename
  const tarballs = [...filenames, helpers].map((name) => join(temporary, name))
  execFileSync('mkdir', [project])
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: project, stdio: 'pipe' })
}

describe('the package', () => {
  it('contains only needed files, in 600 kB without signing and evidence', () => {
    const paths = packed.files.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json']))
    expect(paths.filter((path) => !path.startsWith('dist/')).length).toBe(4)
    expect(paths.filter((path) => /test|\.map$|tsbuildinfo/.test(path))).toEqual([])
    const bytesOf = (files: Packed['files']) => files.reduce((sum, { size }) => sum + size, 0)
    const offline = packed.files.filter(({ path }) => /^dist\/(signing|evidence)\//.test(path))
    expect(packed.unpackedSize - bytesOf(offline)).toBeLessThanOrEqual(600_000)
    expect(bytesOf(offline)).toBeLessThanOrEqual(120_000)
    expect(readFileSync(join(sdk, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })

  it('is at most 10 kB of JavaScript, minified and compressed, with its dependency', async () => {
    const bundle = await rolldown({ input: join(sdk, 'dist/strongroom.js'), platform: 'browser', logLevel: 'silent' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    const bytes = output.reduce((sum, part) => sum + gzipSync('code' in part ? part.code : '').length, 0)
    expect(bytes).toBeLessThanOrEqual(10_000)
    // An empty bundle would be small, too.
    expect(bytes).toBeGreaterThan(3_000)
  })

  it('needs nothing of Node.js', () => {
    const code = packed.files.filter(({ path }) => /\.(js|d\.ts)$/.test(path))
    expect(code.length).toBeGreaterThan(20)
    const needy = code.filter(({ path }) =>
      /["']node:|\bprocess\.|\bBuffer\b|\brequire\(|types="node"/.test(readFileSync(join(sdk, path), 'utf8')),
    )
    expect(needy).toEqual([])
  })

  it('loads the types of the raw client for those who import it alone', () => {
    const main = readFileSync(join(sdk, 'dist/strongroom.d.ts'), 'utf8')
    const reachable = ['calls', 'errors', 'files', 'generated/api', 'pages', 'selectors', 'wait', 'webhooks']
    const texts = reachable.map((name) => readFileSync(join(sdk, `dist/${name}.d.ts`), 'utf8'))
    expect([main, ...texts].filter((text) => /openapi-fetch|paths\.ts/.test(text))).toEqual([])
  })
})

describe('the README', () => {
  const environment = () => ({ STRONGROOM_URL: stack.url, STRONGROOM_TOKEN: stack.treasurer.token })

  it('has a quick start that runs in an empty project', async () => {
    const [, code, answer] = /```js quick-start\.js\n(.*?)```\n\n```text\n(.*?)```/s.exec(readme)!
    writeFileSync(join(project, 'quick-start.js'), code!)
    const { output, exitCode } = await runProgram(join(project, 'quick-start.js'), [], environment())
    expect(output).toBe(answer)
    expect(exitCode).toBe(0)
  })

  it('has blocks that run and compile', async () => {
    const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code!)
    expect(blocks.length).toBeGreaterThanOrEqual(7)
    const prelude = `import * as sdk from '@strongroom/sdk'
const { createStrongroom, toRaw, fromRaw, compare, signWebhook, verifyWebhook } = sdk
const [baseUrl, token] = [process.env.STRONGROOM_URL ?? '', process.env.STRONGROOM_TOKEN ?? '']
const vault = createStrongroom({ baseUrl, token }).vault('treasury')
const [addressId, tokenId] = ['${stack.address.id}', '${stack.tusd.id}']
const fromAddress = '${stack.address.address}'
const { id: vaultId } = await vault.get()
const person = (await createStrongroom({ baseUrl, token }).auth.getCurrentSession()).user.id
const order = { fromAddressId: addressId, toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', amount: '1' }
const invoice = { id: 'invoice-1' }
const { signal } = new AbortController()
const keyId = 'key-1'
const { privateKey } = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']))
const [event, secret, webhookUrl] = [{ id: 'evt_1' }, 'secret', baseUrl.replace('/api/v1', '/webhooks/wallet')]
export {}
`
    await createCounterpartyPolicy()
    const names = blocks.map((_, index) => `block-${index}.js`)
    for (const [index, code] of blocks.entries()) {
      const imports = code.split('\n').filter((line) => line.startsWith('import '))
      const rest = code.split('\n').filter((line) => !line.startsWith('import '))
      // A scope of its own, because a block may name what the lines before it name.
      const text = [...imports, prelude, '{', ...rest, '}'].join('\n')
      writeFileSync(join(project, names[index]!), text)
      const { exitCode, output } = await runProgram(join(project, names[index]!), [], environment())
      expect(exitCode, `${code}\n${output}`).toBe(0)
    }
    compile(['quick-start.js', ...names])
  })

  async function createCounterpartyPolicy() {
    const { admin, groups } = stack.vault
    const policy = {
      code: 'counterparties',
      name: 'Counterparties',
      actionType: 'counterparty_create',
      effect: 'allow',
    }
    const answer = await admin.post(`/policy-groups/${groups.everyone}/policies`, policy)
    expect(answer.status).toBe(201)
  }

  /** With the types that the package brings along, and those of Node.js. */
  function compile(files: string[]): void {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      allowJs: true,
      checkJs: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    execFileSync(join(root, 'node_modules/.bin/tsc6'), ['-p', project], { stdio: ['ignore', 'inherit', 'inherit'] })
  }
})
