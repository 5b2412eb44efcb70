import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Hex, parseEther } from 'viem'
import { type Report, runConformance } from '../../conformance/src/run-checks.ts'
import type { Options } from '../../conformance/src/wallet-under-test.ts'
import { startAnvil } from '../../wallet/src/anvil.ts'
import { pinAuthority } from '../../wallet/src/authority/protection.ts'
import { AuthorityStore } from '../../wallet/src/authority/store.ts'
import { startWallet } from '../../wallet/src/start-wallet.ts'
import { createTestDatabase } from '../../wallet/src/testing/database.ts'
import { deployTestToken, type Faucet, openFaucet, readTestToken } from '../../wallet/src/testing/test-token.ts'
import { deriveTestAddress, otherVaultToken, testConfig, vaultToken } from '../../wallet/src/testing/wallet-client.ts'
import { webhookSecret } from '../../wallet/src/testing/webhook-receiver.ts'

export type Call = { method: string; path: string; headers: IncomingHttpHeaders; body: string }
export type Reply = { status: number; headers: IncomingHttpHeaders; body: string }

/** Decides in a relay what becomes of a request. `forward` sends it on, with changes. */
export type Fault = (call: Call, forward: (call?: Partial<Call>) => Promise<Reply>) => Promise<Reply>

export type Faults = {
  /** In front of the wallet service. */
  wallet?: Fault
  /** Between the wallet service and the kit. */
  webhook?: Fault
}

const account = 9000
const protectedToken = 'token-of-the-protected-vault-0003'
const clients = [
  { name: 'first', token: vaultToken },
  { name: 'other', token: otherVaultToken },
  { name: 'protected', token: protectedToken },
]

/** Starts the reference wallet on a chain, with a funded purse, and a relay on each side of it that can make a mistake. */
export async function startStand() {
  const [anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  const toKit = await startRelay()
  const authorityDir = await mkdtemp(join(tmpdir(), 'conformance-'))
  const wallet = await startRestartable({
    ...{ authorityDir, clients, webhookSecret },
    databaseUrl: database.url,
    rpcUrl: anvil.rpcUrl,
    webhookUrl: `${toKit.url}/webhooks/wallet`,
  })
  const copy = copyOf(database.url)
  const authorityKeys = await protect(database.url, authorityDir)
  const toWallet = await startRelay(wallet.url)
  const faucet = openFaucet(anvil.rpcUrl)
  const contract = await deployTestToken(faucet)
  const purse = await deriveTestAddress(wallet.url, `m/44/60/${account}/0`)
  await fund(faucet, contract, purse)
  const options: Options = {
    url: wallet.url,
    network: 'ethereum',
    coinType: 60,
    account,
    type: 'evm',
    secret: vaultToken,
    otherSecret: otherVaultToken,
    protectedSecret: protectedToken,
    authorityKeys,
    token: { contract, decimals: 6 },
    spend: true,
    webhooks: { host: '127.0.0.1', port: 0, secret: webhookSecret },
    waitSeconds: 60,
    restart: () => wallet.whileStopped(async () => undefined),
    backup: { keep: () => wallet.whileStopped(copy.keep), restore: () => wallet.whileStopped(copy.restore) },
    // More changes than fit into one answer.
    manyOrders: process.env.CONFORMANCE === 'all' ? 10_000 : 1_200,
  }
  return {
    options,
    toWallet,
    toKit,
    faucet,
    /** Runs the kit; with faults, the relay stands between. */
    async run(
      only: string[] = [],
      { changes = {}, faults }: { changes?: Partial<Options>; faults?: Faults } = {},
    ): Promise<Report> {
      toWallet.setFault(faults?.wallet)
      toKit.setFault(faults?.webhook)
      const url = faults === undefined ? wallet.url : toWallet.url
      return await runConformance({ ...options, url, ...changes }, only, {
        note: () => undefined,
        onResult: () => undefined,
        onListening: (listening) => toKit.setTarget(new URL(listening).origin),
      })
    },
    async stop() {
      await wallet.stop()
      await Promise.all([toWallet.stop(), toKit.stop(), anvil.stop()])
      await copy.drop()
      await database.drop()
      await rm(authorityDir, { recursive: true, force: true })
    },
  }
}

async function fund(faucet: Faucet, contract: Hex, purse: Hex) {
  const { abi } = readTestToken()
  await faucet.sendTransaction({ to: purse, value: parseEther('100'), chain: null })
  const call = { address: contract, abi, functionName: 'transfer', args: [purse, 10n ** 9n], chain: null } as const
  await faucet.writeContract(call)
}

/** A wallet service that keeps its port when it starts again. */
async function startRestartable(config: Parameters<typeof testConfig>[0]) {
  let running = await startWallet(testConfig(config))
  const { url, port } = running
  return {
    url,
    stop: () => running.stop(),
    async whileStopped(work: () => Promise<void>): Promise<void> {
      await running.stop()
      await work()
      running = await startWallet(testConfig({ ...config, port }))
    },
  }
}

/** Backs up and restores a database without connections, as a copy under the same server. */
function copyOf(databaseUrl: string) {
  const name = new URL(databaseUrl).pathname.slice(1)
  const run = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const drop = () => run(`drop database if exists ${name}_copy with (force)`)
  return {
    drop,
    async keep() {
      await drop()
      // The last connections of the stopped service may still be ending.
      for (let attempt = 1; ; attempt += 1) {
        const made = run(`create database ${name}_copy template ${name} strategy file_copy`)
        const fault = await made.then(() => null).catch((error: Error & { code?: string }) => error)
        if (fault === null) return
        if (fault.code !== '55006' || attempt >= 50) throw fault
        await sleep(50)
      }
    },
    restore: () => run(`drop database ${name} with (force)`, `alter database ${name}_copy rename to ${name}`),
  }
}

/** Pins an authority for the third client: every order of the coin needs two of three services besides its initiator. */
async function protect(databaseUrl: string, directory: string): Promise<Options['authorityKeys']> {
  const signers = ['anna', 'ben', 'carla'].map((person) => ({ person, pair: generateKeyPairSync('ed25519') }))
  const keys = signers.map(({ person, pair }) => {
    const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
    return { id: `key-of-${person}`, person, name: `Key of ${person}`, kind: 'service', publicKey }
  })
  const votes = { group: 'signers', votes: 2 }
  const floors = [{ above: '0', to: 'any', ...votes }]
  const pool = new pg.Pool({ connectionString: databaseUrl })
  const { rows } = await pool.query("select id from wallet.clients where name = 'protected'")
  await pinAuthority(pool, new AuthorityStore(directory), rows[0].id, {
    format: 'strongroom-authority-2',
    vaultId: 'conformance-vault',
    version: 1,
    previous: null,
    keys,
    groups: [{ id: 'signers', persons: signers.map(({ person }) => person) }],
    addresses: [],
    change: { group: 'signers', votes: 3 },
    trustsServicePage: false,
    delayHours: 24,
    contacts: [],
    rules: [
      {
        network: 'ethereum',
        contractAddress: null,
        symbol: 'ETH',
        decimals: 18,
        initiators: 'signers',
        perDay: null,
        floors,
      },
    ],
  })
  await pool.end()
  return signers.map(({ person, pair }) => ({ id: `key-of-${person}`, privateKey: pair.privateKey }))
}

export type Stand = Awaited<ReturnType<typeof startStand>>

/** Starts a relay that forwards every request, or lets a fault decide. Without a target, it cuts connections. */
export async function startRelay(target: string | null = null) {
  let fault: Fault | undefined
  const server = createServer(async (incoming, response) => {
    try {
      const call = {
        method: incoming.method!,
        path: incoming.url!,
        headers: incoming.headers,
        body: await textOf(incoming),
      }
      const forward = (changes: Partial<Call> = {}) => send(target!, { ...call, ...changes })
      const { status, headers, body } = await (fault === undefined ? forward() : fault(call, forward))
      const { 'transfer-encoding': _, 'content-length': __, connection: ___, ...others } = headers
      response.writeHead(status, others).end(body)
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setTarget: (url: string) => {
      target = url
    },
    setFault: (next: Fault | undefined) => {
      fault = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends a request with its path unchanged; fetch would change some paths. */
async function send(target: string, { method, path, headers, body }: Call): Promise<Reply> {
  const { connection: _, 'transfer-encoding': __, ...others } = headers
  const bytes = Buffer.from(body)
  const outgoing = request(target, { method, path, headers: { ...others, 'content-length': bytes.length } })
  const answered = once(outgoing, 'response')
  // A service may answer and close before it has read a body that it refuses; the rest then cannot be written.
  outgoing.on('error', () => undefined)
  outgoing.end(bytes)
  const [response] = await answered
  return { status: response.statusCode, headers: response.headers, body: await textOf(response) }
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
