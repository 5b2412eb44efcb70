import { type ChildProcess, execFile, fork } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { HDKey } from '@scure/bip32'
import pg from 'pg'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildProject } from '../../server/src/testing/build-project.ts'
import { bundledProgram } from '../../server/src/testing/bundled-program.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { hashOf } from './authority/canonical.ts'
import { readAddress } from './chains/bitcoin/addresses.ts'
import { bitcoin } from './chains/bitcoin/parameters.ts'
import { addClient } from './clients.ts'
import { openKeyring } from './keys/keyring.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase, testPassphrase } from './testing/database.ts'
import { type LitecoinNode, litecoinProgram, startLitecoinNode } from './testing/litecoin-node.ts'
import { controlChain } from './testing/local-chain.ts'
import { startNodeProxy } from './testing/node-proxy.ts'
import { authority as full } from './testing/signing.ts'
import { openFaucet } from './testing/test-token.ts'
import { openUtxoFaucet } from './testing/utxo-faucet.ts'
import { utxoConfigOf } from './testing/utxo-wallet.ts'
import {
  call,
  deriveTestAddress,
  orderTestTransfer,
  vaultToken,
  waitFor,
  waitForTransfer,
} from './testing/wallet-client.ts'
import { webhookSecret } from './testing/webhook-receiver.ts'

const folder = fileURLToPath(new URL('../', import.meta.url))
/** The program that people run. Its start takes a second of computing, so most cases start the same code, joined to one file. */
const installed = `${folder}bin/strongroom-wallet.js`
let program: string

let anvil: Anvil
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let environment: Record<string, string>
/** Starts that wait a minute for a database. They wait beside the other cases. */
let withoutDatabase: ReturnType<typeof run>
const running = new Set<ChildProcess>()

beforeAll(async () => {
  // The commands are tested as installed, that is compiled. The build compiles only what is out of date.
  buildProject('build')
  program = await bundledProgram('wallet/dist/cli.js')
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  proxy = await startNodeProxy(anvil.rpcUrl)
  environment = {
    DATABASE_URL: database.url,
    WALLET_PASSPHRASE: testPassphrase,
    WALLET_CHAINS: JSON.stringify({
      ethereum: { rpcUrl: proxy.rpcUrl, chainId: 31337, confirmations: 1, pollMilliseconds: 50 },
    }),
    WEBHOOK_URL: 'http://127.0.0.1:9/unused',
    WEBHOOK_SECRET: webhookSecret,
    WALLET_CLIENTS: JSON.stringify([{ name: 'first', token: vaultToken }]),
  }
  withoutDatabase = run(['serve'], { ...environment, DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })
})

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

async function serve(started = program) {
  const child = fork(started, ['serve'], { env: environment, execArgv: [], silent: true })
  running.add(child)
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { type: string; port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  const end = (signal: 'SIGTERM' | 'SIGKILL') =>
    new Promise<number | null>((resolve) => {
      child.once('exit', (code) => resolve(code))
      child.kill(signal)
      running.delete(child)
    })
  return { url: `http://127.0.0.1:${port}`, end, output: () => output }
}

const run = (args: string[], env: Record<string, string>, started = program) =>
  promisify(execFile)(process.execPath, [started, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(`${folder}package.json`, 'utf8'))
  expect(await run(['--version'], {}, installed)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('serve reports its port, answers, and ends with code 0 on SIGTERM; its log has no secret', async () => {
  const wallet = await serve(installed)
  await deriveTestAddress(wallet.url, 'm/44/60/0/0')
  expect((await call(wallet.url, '/healthz')).status).toBe(200)
  expect(wallet.output()).toContain(`wallet service listening on ${wallet.url}`)
  expect(await wallet.end('SIGTERM')).toBe(0)
  for (const secret of [vaultToken, testPassphrase, webhookSecret]) expect(wallet.output()).not.toContain(secret)
})

test('serve ends with one clear line and code 1 when settings are wrong', async () => {
  const { code, stderr } = await run(['serve'], { DATABASE_URL: database.url, WEBHOOK_SECRET: 'tiny' })
  expect(code).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toMatch(
    /WALLET_PASSPHRASE is required; WALLET_CHAINS is required; WEBHOOK_URL is required; WEBHOOK_SECRET must/,
  )
})

test('client add prints a token and nothing else, and the token works', async () => {
  const added = await run(['client', 'add', 'by-hand'], environment)
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^srw_[\w-]{43}\n$/), stderr: '' })
  expect(await run(['client', 'add', 'by-hand'], environment)).toMatchObject({ code: 1, stdout: '' })
  const wallet = await serve()
  expect(await deriveTestAddress(wallet.url, 'm/44/60/0/0', added.stdout.trim())).toMatch(/^0x/)
  await wallet.end('SIGTERM')
  const listed = await run(['client', 'list'], environment)
  expect(listed.stdout).toMatch(/^by-hand\t1 addresses\t/m)
  expect(listed.stdout).not.toContain('srw_')
  expect(await run(['migrate'], environment)).toMatchObject({ code: 0, stdout: 'nothing to do\n' })
})

test('T58 T59 the ceremony asks for the digits of the fingerprint', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ceremony-'))
  const env = { ...environment, AUTHORITY_DIR: join(folder, 'authorities') }
  const file = join(folder, 'authority.json')
  try {
    const authority = { ...full, rules: full.rules.slice(0, 1) }
    await writeFile(file, JSON.stringify(authority))
    await run(['client', 'add', 'protected'], environment)
    const command = promisify(execFile)(process.execPath, [program, 'authority', 'init', 'protected', file], { env })
    command.child.stdin?.end(`${hashOf(authority).slice(0, 8)}\n`)
    expect((await command).stdout).toContain('protected is protected by version 1')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('T60 passphrase: the keys stay, the previous passphrase opens nothing, and a process that has it stores no client', async () => {
  const fresh = await createTestDatabase()
  const freshEnvironment = { ...environment, DATABASE_URL: fresh.url }
  const [next, before] = ['another passphrase for the tests', environment.DATABASE_URL!]
  const pool = new pg.Pool({ connectionString: fresh.url })
  try {
    const token = (await run(['client', 'add', 'kept'], freshEnvironment)).stdout.trim()
    environment.DATABASE_URL = fresh.url
    let wallet = await serve()
    const address = await deriveTestAddress(wallet.url, 'm/44/60/0/0', token)
    await wallet.end('SIGTERM')
    const late = await openKeyring(pool, testPassphrase)

    const wrong = { ...freshEnvironment, WALLET_PASSPHRASE: next, WALLET_PASSPHRASE_PREVIOUS: 'not the passphrase' }
    expect(await run(['passphrase'], wrong)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('WALLET_PASSPHRASE_PREVIOUS does not open the key store'),
    })
    const change = { ...freshEnvironment, WALLET_PASSPHRASE: next, WALLET_PASSPHRASE_PREVIOUS: testPassphrase }
    expect(await run(['passphrase'], change)).toMatchObject({ code: 0, stdout: 'sealed the keys of 2 clients again\n' })
    expect(await run(['passphrase'], change)).toMatchObject({ code: 0, stdout: expect.stringContaining('already') })

    expect(await run(['serve'], freshEnvironment)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('WALLET_PASSPHRASE does not open the key store'),
    })
    await expect(addClient(pool, late, 'too late')).rejects.toThrow('the passphrase was changed meanwhile')
    environment.WALLET_PASSPHRASE = next
    wallet = await serve()
    expect(await deriveTestAddress(wallet.url, 'm/44/60/0/0', token)).toBe(address)
    await wallet.end('SIGTERM')
  } finally {
    environment.DATABASE_URL = before
    environment.WALLET_PASSPHRASE = testPassphrase
    await pool.end()
    await fresh.drop()
  }
})

test.each(['dropSend', 'dropSendAnswer'] as const)(
  'T23 kill -9 after signing (%s): exactly one transaction',
  async (fault) => {
    let wallet = await serve()
    const derivationPath = `m/44/60/9/${fault === 'dropSend' ? 0 : 1}`
    const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
    const faucet = openFaucet(anvil.rpcUrl)
    const hash = await faucet.sendTransaction({ to: fromAddress, value: parseEther('1'), chain: null })
    await faucet.waitForTransactionReceipt({ hash })
    proxy.control.fault = fault
    proxy.control.sent.length = 0
    const toAddress = '0x000000000000000000000000000000000000dEaD'
    await orderTestTransfer(wallet.url, { id: `kill-${fault}`, derivationPath, fromAddress, toAddress, amount: '1' })
    await waitFor('a send attempt', async () => proxy.control.sent.length > 0)
    await wallet.end('SIGKILL')
    proxy.control.fault = 'none'
    wallet = await serve()
    expect(await waitForTransfer(wallet.url, `kill-${fault}`)).toMatchObject({ status: 'confirmed' })
    expect(new Set(proxy.control.sent).size).toBe(1)
    expect(await faucet.getTransactionCount({ address: fromAddress })).toBe(1)
    await wallet.end('SIGTERM')
  },
)

test('T23 T75 kill -9 between signing and storing, of a payment and of its replacement: one payment', async () => {
  let wallet = await serve()
  const derivationPath = 'm/44/60/9/2'
  const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
  const chain = controlChain(anvil.rpcUrl)
  await chain.setBalance(fromAddress, parseEther('1'))
  await chain.setAutomine(false)
  proxy.control.sent.length = 0
  const toAddress = '0x000000000000000000000000000000000000bEEF'
  const order = { id: 'kill-unstored', derivationPath, fromAddress, toAddress, amount: '5' }
  const state = async () =>
    (await call<{ status: string; txHash: string }>(wallet.url, '/transfers/kill-unstored')).body

  await killWhileStoring(wallet, () => orderTestTransfer(wallet.url, order))
  expect(proxy.control.sent).toEqual([])
  wallet = await serve()
  const first = await waitFor('the broadcast', async () => {
    const { status, txHash } = await state()
    return status === 'broadcast' && txHash
  })
  const path = '/transfers/kill-unstored/speed-up'
  await killWhileStoring(wallet, () => call(wallet.url, path, { body: { txHash: first } }))
  expect(new Set(proxy.control.sent).size).toBe(1)
  wallet = await serve()
  expect((await call(wallet.url, path, { body: { txHash: first } })).status).toBe(202)
  await waitFor('the second transaction', async () => new Set(proxy.control.sent).size === 2)
  await chain.setAutomine(true)
  await chain.mine()
  expect(await waitForTransfer(wallet.url, 'kill-unstored')).toMatchObject({ status: 'confirmed' })
  const faucet = openFaucet(anvil.rpcUrl)
  expect(await faucet.getBalance({ address: toAddress })).toBe(5n)
  expect(await faucet.getTransactionCount({ address: fromAddress })).toBe(1)
  await wallet.end('SIGTERM')
})

/** Kills the wallet while a transaction that it has just signed waits to be stored. */
async function killWhileStoring(wallet: Awaited<ReturnType<typeof serve>>, request: () => Promise<unknown>) {
  const blocker = new pg.Client({ connectionString: database.url })
  await blocker.connect()
  try {
    await blocker.query('begin')
    await blocker.query('lock table wallet.transactions in share row exclusive mode')
    const answer = request().catch(() => undefined)
    await waitFor('the attempt to store', async () => {
      const { rows } = await blocker.query(
        "select from pg_locks where relation = 'wallet.transactions'::regclass and not granted",
      )
      return rows.length > 0
    })
    await wallet.end('SIGKILL')
    await answer
    await blocker.query('rollback')
  } finally {
    await blocker.end()
  }
}

describe.skipIf(litecoinProgram === null)('Bitcoin', () => {
  let node: LitecoinNode
  let faucet: Awaited<ReturnType<typeof openUtxoFaucet>>
  let before: string

  beforeAll(async () => {
    node = await startLitecoinNode('bitcoin')
    faucet = await openUtxoFaucet(node, bitcoin)
    before = environment.WALLET_CHAINS!
    const { feeRates, feeRateMax, spendMin, ...settings } = await utxoConfigOf('bitcoin', node)
    environment.WALLET_CHAINS = JSON.stringify({ bitcoin: settings })
  }, 60_000)
  afterAll(async () => {
    environment.WALLET_CHAINS = before
    await node?.stop()
  })

  const place = (index: number) => ({ network: 'bitcoin', coinType: 0, derivationPath: `m/44/0/0/0/${index}` })

  test('descriptor prints what a standard wallet needs to find the addresses', async () => {
    const wallet = await serve()
    const shown: string[] = []
    for (const index of [0, 3]) {
      const { body } = await call<{ address: string }>(wallet.url, '/addresses', { body: place(index) })
      shown.push(body.address)
    }
    await wallet.end('SIGTERM')
    const { stdout, code } = await run(['descriptor', 'bitcoin', 'first'], environment)
    const [, descriptor, range] =
      /^(wpkh\(\[[0-9a-f]{8}\/84h\/0h\/0h\]xpub\w+\/0\/\*\)#\w{8})\t(.*)\n$/.exec(stdout) ?? []
    expect([code, range]).toEqual([0, '0-3'])
    // A node of a test network knows keys and addresses in another notation only.
    const [, xpub] = /(xpub\w+)/.exec(descriptor!)!
    const body = descriptor!.replace(xpub!, toTestNotation(xpub!)).replace(/#.*/, '')
    const { descriptor: known } = (await node.rpc.call('getdescriptorinfo', [body])) as { descriptor: string }
    const derived = (await node.rpc.call('deriveaddresses', [known, [0, 3]])) as string[]
    const scripts = await Promise.all(
      [derived[0], derived[3]].map(async (address) => {
        const { scriptPubKey } = (await node.rpc.call('validateaddress', [address])) as { scriptPubKey: string }
        return scriptPubKey
      }),
    )
    expect(scripts).toEqual(shown.map((address) => Buffer.from(readAddress(address, bitcoin)!.script).toString('hex')))
    for (const [args, message] of [
      [['ethereum', 'first'], 'WALLET_CHAINS has no network ethereum of the type bitcoin'],
      [['bitcoin', 'nobody'], 'no client is named nobody'],
    ] as const)
      expect(await run(['descriptor', ...args], environment)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(message),
      })
  })

  function toTestNotation(xpub: string): string {
    const { publicKey, chainCode, depth, index, parentFingerprint } = HDKey.fromExtendedKey(xpub)
    const versions = { private: 0x04358394, public: 0x043587cf }
    const key = { publicKey: publicKey!, chainCode: chainCode!, depth, index, parentFingerprint }
    return new HDKey({ versions, ...key }).publicExtendedKey
  }

  test('the service does not start with a node of another network, and starts with a node that is down', async () => {
    const right = environment.WALLET_CHAINS!
    const { genesis: _, ...main } = JSON.parse(right).bitcoin
    const other = { ...environment, WALLET_CHAINS: JSON.stringify({ bitcoin: main }) }
    expect(await run(['serve'], other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the node of bitcoin serves another network'),
    })
    environment.WALLET_CHAINS = JSON.stringify({ bitcoin: { ...main, rpcUrl: 'http://127.0.0.1:9' } })
    try {
      const wallet = await serve()
      expect((await call(wallet.url, '/healthz')).body).toMatchObject({ networks: [{ reachable: false }] })
      await wallet.end('SIGTERM')
    } finally {
      environment.WALLET_CHAINS = right
    }
  })

  test('a service that is killed between signing and storing, and again after storing, pays once', async () => {
    let wallet = await serve()
    const { body } = await call<{ address: string }>(wallet.url, '/addresses', { body: place(9) })
    await faucet.pay(body.address, 1_000_000n)
    await faucet.mine(2)
    const balance = `/balances?network=bitcoin&address=${body.address}`
    await waitFor(
      'the deposit',
      async () => (await call<{ balance: string }>(wallet.url, balance)).body.balance !== '0',
    )
    const toAddress = faucet.recipient(9)
    const order = {
      id: 'kill-bitcoin',
      ...place(9),
      fromAddress: body.address,
      toAddress,
      contractAddress: null,
      amount: '50000',
    }
    await killWhileStoring(wallet, () => call(wallet.url, '/transfers', { body: order }))
    expect(await node.rpc.call('getrawmempool')).toEqual([])
    wallet = await serve()
    const state = () => call<{ status: string; txHash: string }>(wallet.url, '/transfers/kill-bitcoin')
    await waitFor('the broadcast', async () => (await state()).body.status === 'broadcast')
    await wallet.end('SIGKILL')
    wallet = await serve()
    await faucet.mine(2)
    await waitFor('the end', async () => (await state()).body.status === 'confirmed')
    expect(await faucet.balanceOf(toAddress)).toBe(50_000n)
    await wallet.end('SIGTERM')
  })
})

test('several processes may start on a new database at the same time', async () => {
  const fresh = await createEmptyDatabase()
  const before = environment.DATABASE_URL!
  environment.DATABASE_URL = fresh.url
  try {
    const wallets = await Promise.all([serve(), serve()])
    const addresses = await Promise.all(wallets.map(({ url }) => deriveTestAddress(url, 'm/44/60/0/0')))
    expect(addresses[0]).toBe(addresses[1])
    await Promise.all(wallets.map(({ end }) => end('SIGTERM')))
    const client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
    const { rows: clients } = await client.query('select count(*)::int from wallet.clients')
    const { rows: keyStores } = await client.query('select scrypt_cost from wallet.keyring')
    await client.end()
    expect(clients[0].count).toBe(1)
    // OWASP recommends this cost. The key stores of the other tests are cheaper to open.
    expect(keyStores).toEqual([{ scrypt_cost: 131_072 }])
  } finally {
    environment.DATABASE_URL = before
    await fresh.drop()
  }
})

test('serve ends with one clear line and code 1 when the database does not answer', async () => {
  const { code, stderr } = await withoutDatabase
  expect(code).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toContain('ECONNREFUSED')
})
