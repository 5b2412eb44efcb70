import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { buildProject } from '../../server/src/testing/build-project.ts'

const program = fileURLToPath(new URL('../bin/strongroom-wallet-conformance.js', import.meta.url))
const secret = 'a-secret-of-the-command-test'
let server: Server | undefined

/** The program is what people run, so it is built and run as such. */
beforeAll(() => buildProject('build:server'))
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

it('lists the checks without a wallet service', async () => {
  const { code, out } = await run(['--list'])
  expect(code).toBe(0)
  expect(out).toMatch(/^auth\.missing-token {2}Every operation/m)
})

it('ends with 2 when nothing can be checked, and says why', async () => {
  const url = await serve((_request, response) => response.writeHead(401).end())
  const cases: [string[], Record<string, string>, string][] = [
    [['http://127.0.0.1:9'], {}, 'Set WALLET_TOKEN'],
    [['ftp://x'], { WALLET_TOKEN: secret }, 'must be http or https'],
    [['http://127.0.0.1:9'], { WALLET_TOKEN: secret }, 'cannot be reached: the connection failed: ECONNREFUSED'],
    [[url], { WALLET_TOKEN: secret }, 'refuses WALLET_TOKEN'],
    [[url, '--only', 'auht'], { WALLET_TOKEN: secret }, 'There is no check or category "auht"'],
    [[url, '--wait', 'x'], { WALLET_TOKEN: secret }, '--wait must be a whole number'],
    [[url, '--token', '0x1'], { WALLET_TOKEN: secret }, '--token must be the address of a contract'],
    [[url, '--type', 'litecoin', '--token', 'x'], { WALLET_TOKEN: secret }, 'litecoin has no contracts'],
    [[url, '--webhook-port', '0'], { WALLET_TOKEN: secret }, 'Set WALLET_WEBHOOK_SECRET'],
    [[url, '--backup-command', 'true'], { WALLET_TOKEN: secret }, '--restore-command are given together'],
    [[url, '--many', '0'], { WALLET_TOKEN: secret }, '--many must be a whole number'],
  ]
  for (const [args, env, message] of cases) {
    const result = await run(args, env)
    expect(result, args.join(' ')).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) })
    expect(result.err).toMatch(/^strongroom-wallet-conformance: [^\n]+\n$/)
  }
})

it('takes the usual network and coin type of a family, unless others are named', async () => {
  const seen: { network: string; coinType: number }[] = []
  const url = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      if (request.url === '/addresses') seen.push(JSON.parse(body))
      response.writeHead(401).end()
    })
  })
  for (const args of [['--type', 'litecoin'], ['--type', 'bitcoin', '--network', 'btc'], ['--non-evm'], []])
    expect((await run([url, ...args], { WALLET_TOKEN: secret })).code).toBe(2)
  expect(seen.map(({ network, coinType }) => [network, coinType])).toEqual([
    ['litecoin', 2],
    ['btc', 0],
    ['ethereum', 60],
    ['ethereum', 60],
  ])
  const unknown = await run([url, '--type', 'dogecoin'], { WALLET_TOKEN: secret })
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('evm, bitcoin, litecoin') })
})

it('ends with 2 when every check was skipped', async () => {
  const url = await serve((_request, response) => response.end('{}'))
  const result = await run([url, '--only', 'payments'], { WALLET_TOKEN: secret })
  expect(result.code).toBe(2)
  expect(result.out).toContain('not checked: --spend was not given')
  expect(result.err).toBe('strongroom-wallet-conformance: Nothing was checked\n')
})

it('ends with 1 when a check fails, and shows the request and the answer without the secret', async () => {
  const url = await serve((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ address: '0x1', authorization: request.headers.authorization, text: '\u001b[31m' }))
  })
  const text = await run([url, '--only', 'auth', 'run.no-secrets'], { WALLET_TOKEN: secret })
  expect(text.code).toBe(1)
  expect(text.out).toMatch(/^FAIL {2}auth\.before-body /m)
  expect(text.out).toContain('docs/wallet-protocol.md#errors')
  expect(text.out).toContain('Sent: POST /addresses')
  expect(text.out).toMatch(/Received: 200 after \d+ ms/)
  expect(text.out).toMatch(/^FAIL {2}run\.no-secrets /m)
  expect(text.out + text.err).not.toContain(secret)
  expect(text.out + text.err).not.toContain(secret.slice(0, -1))
  expect(text.out).not.toContain('\u001b')

  const { code, out } = await run([url, '--only', 'auth', '--json'], { WALLET_TOKEN: secret })
  expect(code).toBe(1)
  const report = JSON.parse(out)
  expect(report).toMatchObject({ url, network: 'ethereum', failed: expect.any(Number) })
  const failure = report.results.find(({ id }: { id: string }) => id === 'auth.before-body')
  expect(failure).toMatchObject({
    status: 'failed',
    advice: expect.any(String),
    exchanges: [{ response: { status: 200 } }],
  })
  const skipped = report.results.find(({ id }: { id: string }) => id === 'auth.keys-of-clients')
  expect(skipped).toMatchObject({ status: 'skipped', reason: 'WALLET_OTHER_TOKEN is not set' })
  expect(out).not.toContain(secret.slice(0, -1))
})

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function run(args: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env } }
    const child = execFile(process.execPath, [program, ...args], options, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
}
