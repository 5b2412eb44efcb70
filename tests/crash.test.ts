import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../server/src/db/client.ts'
import { connectEmbeddedPostgres } from '../server/src/db/embedded.ts'
import { inTransaction } from '../server/src/db/transaction.ts'
import { createSignInLink } from '../server/src/modules/auth/actions.ts'
import { type FakeWallet, fakeTxHash, startFakeWallet } from '../server/src/testing/fake-wallet.ts'
import { watchDirectory } from '../server/src/testing/undertaker.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'strongroom-crash-'))
const undertaker = watchDirectory(root)
const dataDir = join(root, 'data')
const operator = 'operator@example.org'
const roundsMax = 2
const loadMilliseconds = 1_000
const senders = 8

type Server = { process: ChildProcess; url: string }
let server: Server
let wallet: FakeWallet

beforeAll(async () => {
  // What runs is what ships: the compiled server as a process of its own.
  run('node_modules/.bin/tsc6', ['-b', 'server'])
  run('server/scripts/copy-sql.js', [])
  wallet = await startFakeWallet()
  server = await start()
}, 120_000)

afterAll(async () => {
  if (server !== undefined && server.process.exitCode === null) {
    server.process.kill('SIGTERM')
    await once(server.process, 'exit')
  }
  await wallet?.close()
  rmSync(root, { recursive: true, force: true })
  undertaker.dismiss()
})

it('T20 T23 kill -9 of service and database under load loses no acknowledged deposit and doubles none', async () => {
  const { address, call } = await prepareVault()
  /** By hash: the id that was acknowledged, or null where no answer came. */
  const sent = new Map<string, string | null>()

  for (let round = 0; round < roundsMax; round += 1) {
    let isOver = false
    const load = Array.from({ length: senders }, async (_, sender) => {
      for (let i = 0; !isOver; i += 1) {
        const txHash = fakeTxHash(`${round} ${sender} ${i}`)
        sent.set(txHash, null)
        const answer = await postDeposit(address.address, txHash).catch(() => null)
        if (answer === null || answer.status >= 500) continue
        expect(answer).toMatchObject({ status: 200, body: { outcome: 'credited' } })
        sent.set(txHash, answer.body.depositId)
      }
    })
    await sleep(loadMilliseconds)
    await killEverything()
    isOver = true
    await Promise.all(load)
    const acknowledged = [...sent.values()].filter((id) => id !== null)
    expect(acknowledged.length).toBeGreaterThan(20)

    server = await start()
    const again = [...sent]
    const resend = Array.from({ length: senders }, async () => {
      for (let next = again.pop(); next !== undefined; next = again.pop()) {
        const [txHash, depositId] = next
        const { status, body } = await postDeposit(address.address, txHash)
        expect([status, ['credited', 'duplicate'].includes(body.outcome)]).toEqual([200, true])
        if (depositId !== null) expect(body).toMatchObject({ outcome: 'duplicate', depositId })
        sent.set(txHash, body.depositId)
      }
    })
    await Promise.all(resend)
    expect(new Set(sent.values()).size).toBe(sent.size)
    const { body } = await call('GET', `/vaults/main-vault/balances?summary=true&addressId=${address.id}`)
    expect(body.totals[0].availableDecimal).toBe(`${sent.size}`)
    for (const record of ['ledger', 'audit']) {
      const verified = run('server/bin/strongroom.js', [record, 'verify'])
      expect(verified.stdout).toMatch(/no difference|nothing was changed/)
    }
  }
}, 90_000)

async function start(): Promise<Server> {
  const child = fork(join(repository, 'server/dist/main.js'), {
    env: { ...environment(), PORT: '0', LOG_LEVEL: 'fatal', STRONGROOM_ADMIN_EMAIL: operator },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => expect.fail('The server ended while it was starting')),
  ])) as [{ url: string }]
  return { process: child, url: message.url }
}

/** As a power cut: nobody gets to tidy up. */
async function killEverything(): Promise<void> {
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const exited = once(server.process, 'exit')
  process.kill(postmaster, 'SIGKILL')
  server.process.kill('SIGKILL')
  await exited
}

// biome-ignore lint/suspicious/noExplicitAny: the schema of answers is the business of other tests.
type Reply = { status: number; body: any }

async function request(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const postDeposit = (toAddress: string, txHash: string) =>
  request('POST', '/webhooks/wallet', {
    kind: 'TOPUP',
    tx: { network: 'ethereum', asset: null, amount: '1', toAddress, txHash },
  })

async function prepareVault() {
  const token = await signIn()
  const call = async (method: string, path: string, body?: object) => {
    const reply = await request(method, `/api/v1${path}`, body, { authorization: `Bearer ${token}` })
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
    return reply
  }
  await call('POST', '/vaults', {
    vault: { code: 'main-vault', name: 'Main vault', walletServiceUrl: wallet.url, walletServiceSecret: wallet.secret },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      index: { order: 1, name: 'Index', dynamic: true },
    },
  })
  await call('POST', '/tokens', {
    network: 'ethereum',
    code: 'ETH',
    symbol: 'ETH',
    name: 'Ether',
    contractAddress: null,
    decimals: 18,
  })
  await call('POST', '/vaults/main-vault/lock', {})
  const groups = await call('GET', '/vaults/main-vault/policy-groups')
  const everyone = groups.body.items.find((group: { code: string }) => group.code === 'everyone')
  await call('POST', `/policy-groups/${everyone.id}/policies`, {
    code: 'addresses',
    name: 'Addresses',
    actionType: 'create_address',
    effect: 'allow',
  })
  const { body: address } = await call('POST', '/vaults/main-vault/addresses', {
    network: 'ethereum',
    segments: {},
    token: 'ETH',
  })
  return { address: address as { id: string; address: string }, call }
}

async function signIn(): Promise<string> {
  const url = await connectEmbeddedPostgres(dataDir)
  const { db } = openDatabase({ url: url!, connectionsMax: 1, onError: () => {} })
  const link = await inTransaction(db, (trx) =>
    createSignInLink(trx, { publicOrigin: () => server.url }, operator, new Date()),
  )
  await db.destroy()
  const { body } = await request('POST', '/api/v1/auth/magic-link/verify', {
    token: new URL(link).searchParams.get('token'),
  })
  return body.token
}

/** Runs a program of the repository to its end, which must be a good one. */
function run(program: string, args: string[]): { stdout: string } {
  const result = spawnSync(process.execPath, [join(repository, program), ...args], {
    cwd: repository,
    env: environment(),
    encoding: 'utf8',
  })
  expect(result.status, `${program} ${args.join(' ')}\n${result.stdout}${result.stderr}`).toBe(0)
  return { stdout: result.stdout }
}

/** Nothing of the suite's own settings: they name another database. */
function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, DEMO: 'true' }
}
