import pg from 'pg'
import { parseEther, parseGwei, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { controlChain, type LocalChain } from '../testing/local-chain.ts'
import { startNodeProxy } from '../testing/node-proxy.ts'
import { deployTestToken, openFaucet, readTestToken } from '../testing/test-token.ts'
import { deriveTestAddress, testConfig, waitFor } from '../testing/wallet-client.ts'

const inFlight = 100
const confirmations = 3
const pollMilliseconds = 50
const low = parseGwei('1')
/** Gas of a block, in which none of the transfers fits or all of them do. */
const [none, all] = [20_000n, 30_000_000n]
const derivationPath = 'm/44/60/4/0'

let anvil: Anvil
let chain: LocalChain
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let pool: pg.Pool
let fromAddress: string
/** Statements of the wallet service; those of the test are taken out. */
let statements: string[]
/** The statements of idle loops. */
const looks = ['next-transfer-due', 'claim-webhooks']

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(false)
  await chain.mine(low)
  proxy = await startNodeProxy(anvil.rpcUrl)
  pool = new pg.Pool({ connectionString: database.url })
  wallet = await start()
  fromAddress = await deriveTestAddress(wallet.url, derivationPath)
  await chain.setBalance(fromAddress, parseEther('100'))
})

const start = () => {
  const config = testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl })
  const ethereum = { rpcUrl: proxy.rpcUrl, chainId: 31337, confirmations, pollMilliseconds }
  return startWallet({ ...config, chains: { ethereum } })
}

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

beforeEach(() => {
  statements = []
  const query = pg.Client.prototype.query
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const sent = args[0] as string | { name?: string; text?: string } | undefined
    const text = typeof sent === 'string' ? sent : (sent?.name ?? sent?.text ?? '')
    if (!text.startsWith('/* test */') && !looks.includes(text)) statements.push(text)
    return Reflect.apply(query, this, args)
  } as never)
})

const ask = async <T extends object>(sql: string, values: unknown[] = []) =>
  (await pool.query<T>(`/* test */ ${sql}`, values)).rows

async function countOf(condition: string): Promise<number> {
  const [row] = await ask<{ count: number }>(`select count(*)::int as count from wallet.transfers where ${condition}`)
  return row!.count
}

/** Orders all transfers at once, because the rows of a payout arrive faster than they are sent. */
async function order(prefix: string, contract: string | null = null): Promise<void> {
  await ask(
    `insert into wallet.transfers
       (client_id, id, network, coin_type, derivation_path, from_address, to_address, contract_address, amount)
     select (select id from wallet.clients where name = 'first'), $1 || n, 'ethereum', 60, $2, $3,
       '0x000000000000000000000000000000000000dEaD', $5, n from generate_series(1, $4::int) n`,
    [prefix, derivationPath, fromAddress, inFlight, contract],
  )
}

/** Waits until the follower has finished its work on the newest block. */
async function followed(): Promise<void> {
  const head = BigInt(await chain.rpc<string>('eth_blockNumber'))
  const toWatch = head - BigInt(confirmations) + 2n
  await waitFor('the follower', async () => {
    const rows = await ask(
      `select from wallet.follows f join wallet.cursors c using (network) where f.block = $1 and c.next_block = $2`,
      [head.toString(), toWatch.toString()],
    )
    return rows.length === 1
  })
}

/** Counts the calls that arrived while `work` ran, without the calls for the height. */
async function callsOf(work: () => Promise<void>): Promise<Record<string, number>> {
  proxy.control.asked = {}
  proxy.control.requests = 0
  await work()
  const { eth_blockNumber: _, ...calls } = proxy.control.asked
  return calls
}

const sumOf = (calls: Record<string, number>) => Object.values(calls).reduce((sum, count) => sum + count, 0)

test('100 transfers of one address are sent with at most three calls each, and few statements for all', async () => {
  await followed()
  // The first round of the rotation, which is not spread, finds nothing in flight yet.
  await callsOf(() => passes(3))
  statements = []
  const calls = await callsOf(async () => {
    await order('row-')
    await waitFor('all to be sent', async () => (await countOf("status = 'broadcast'")) === inFlight)
  })
  expect(calls).toMatchObject({ eth_sendRawTransaction: inFlight, eth_estimateGas: inFlight })
  expect(sumOf(calls)).toBeLessThanOrEqual(2 * inFlight + 6)
  expect(statements.length).toBeLessThanOrEqual(20)
  const nonces = await ask<{ nonce: number }>('select nonce::int from wallet.transfers order by nonce')
  expect(nonces.map(({ nonce }) => nonce)).toEqual(Array.from({ length: inFlight }, (_, nonce) => nonce))
})

test('while the chain stands still the node is asked for the height and nothing else, and the database for nothing', async () => {
  await followed()
  // The first round asks for each once, because the node may be another one than before.
  await waitFor('a quiet node', async () => sumOf(await callsOf(() => passes(5))) === 0)
  statements = []
  const calls = await callsOf(() => passes(20))
  expect(calls).toEqual({})
  expect(proxy.control.asked.eth_blockNumber).toBeGreaterThanOrEqual(20)
  expect(statements).toEqual([])
})

const passes = (count: number) =>
  waitFor(`${count} passes`, async () => (proxy.control.asked.eth_blockNumber ?? 0) >= count).then(() => undefined)

test('after a start the blocks that are not deep enough are read once, and each later block costs its two calls', async () => {
  await wallet.stop()
  wallet = await start()
  await chain.rpc('evm_setBlockGasLimit', [toHex(none)])
  await chain.mine(low)
  await followed()
  await waitFor('a quiet node', async () => sumOf(await callsOf(() => passes(5))) === 0)
  for (let count = 0; count < confirmations; count += 1) {
    const calls = await callsOf(async () => {
      await chain.mine(low)
      await followed()
      await passes((proxy.control.asked.eth_blockNumber ?? 0) + 3)
    })
    expect(calls).toEqual({ eth_getBlockByNumber: 1, eth_getBlockReceipts: 1 })
  }
})

test('a new block costs two calls and the same few statements, whether it has none or all of the transfers', async () => {
  const costs: { calls: Record<string, number>; statements: number }[] = []
  const isSettled = async () => (await countOf("status = 'confirmed' and confirmations = 3")) === inFlight
  while (costs.length < 10 && !(await isSettled())) {
    statements = []
    const calls = await callsOf(async () => {
      await chain.rpc('evm_setBlockGasLimit', [toHex(costs.length === 0 ? none : all)])
      await chain.mine(low)
      await followed()
      await passes((proxy.control.asked.eth_blockNumber ?? 0) + 3)
    })
    costs.push({ calls, statements: statements.length })
    if (costs.length === 1) expect(await countOf('block_number is null')).toBe(inFlight)
  }
  expect(await isSettled()).toBe(true)
  for (const cost of costs) {
    expect(cost.calls).toEqual({ eth_getBlockByNumber: 1, eth_getBlockReceipts: 1 })
    expect(cost.statements).toBeLessThanOrEqual(20)
  }
})

test('100 transfers of a token are sent with at most three calls each', async () => {
  await chain.setAutomine(true)
  const faucet = openFaucet(anvil.rpcUrl)
  const token = await deployTestToken(faucet)
  const { abi } = readTestToken()
  const args = [fromAddress, 1_000_000n]
  await faucet.writeContract({ address: token, abi, functionName: 'transfer', args, chain: null })
  await chain.setAutomine(false)
  await followed()
  const calls = await callsOf(async () => {
    await order('token-', token)
    await waitFor('all to be sent', async () => (await countOf("status = 'broadcast'")) === inFlight)
  })
  expect(calls).toMatchObject({ eth_sendRawTransaction: inFlight })
  expect(sumOf(calls)).toBeLessThanOrEqual(3 * inFlight)
  await chain.mine(low)
  for (let count = 1; count < confirmations; count += 1) await chain.mine(low)
  await waitFor('all to be final', async () => (await countOf("status = 'confirmed'")) === 2 * inFlight)
})
