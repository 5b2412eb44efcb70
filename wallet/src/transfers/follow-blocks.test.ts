import pg from 'pg'
import { type Hex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { openChain } from '../chains/evm/open-chain.ts'
import { openLog } from '../log.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { controlChain, type LocalChain } from '../testing/local-chain.ts'
import { startNodeProxy } from '../testing/node-proxy.ts'
import { call, deriveTestAddress, orderTestTransfer, testConfig, waitFor } from '../testing/wallet-client.ts'
import { askForTransfers, listInFlight } from './ask-for-transfers.ts'
import { followBlocks } from './follow-blocks.ts'

const low = parseGwei('1')
const toAddress = '0x000000000000000000000000000000000000dEaD'

let anvil: Anvil
let chain: LocalChain
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let pool: pg.Pool
let from: { derivationPath: string; fromAddress: Hex }

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(false)
  await chain.mine(low)
  proxy = await startNodeProxy(anvil.rpcUrl)
  pool = new pg.Pool({ connectionString: database.url })
  wallet = await start()
  const derivationPath = 'm/44/60/6/0'
  from = { derivationPath, fromAddress: await deriveTestAddress(wallet.url, derivationPath) }
  await chain.setBalance(from.fromAddress, parseEther('10'))
})
afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

function start() {
  const config = testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl })
  const ethereum = { rpcUrl: proxy.rpcUrl, chainId: 31337, confirmations: 3, pollMilliseconds: 50 }
  return startWallet({ ...config, chains: { ethereum } })
}

type State = { status: string; confirmations: number; fee: string | null; txHash: Hex | null }
const stateOf = async (id: string) => (await call<State>(wallet.url, `/transfers/${id}`)).body
const untilIs = (id: string, state: Partial<State>) =>
  waitFor(`${id} to be ${JSON.stringify(state)}`, async () => {
    const found = await stateOf(id)
    return Object.entries(state).every(([key, value]) => found[key as keyof State] === value) && found
  })

async function send(id: string): Promise<Hex> {
  await orderTestTransfer(wallet.url, { id, ...from, toAddress, amount: '1' })
  return (await untilIs(id, { status: 'broadcast' })).txHash!
}

const updatesOf = async (id: string): Promise<string> => {
  const { rows } = await pool.query('select xmin::text as version from wallet.transfers where id = $1', [id])
  return rows[0].version
}

test('confirmations follow from the height, and the row is written when the block comes and when it is final', async () => {
  await send('plain')
  await chain.mine(low)
  expect((await untilIs('plain', { confirmations: 1 })).fee).not.toBeNull()
  const version = await updatesOf('plain')
  await chain.mine(low)
  await untilIs('plain', { status: 'broadcast', confirmations: 2 })
  expect(await updatesOf('plain')).toBe(version)
  await chain.mine(low)
  await untilIs('plain', { status: 'confirmed', confirmations: 3 })
})

test('a block that the chain replaces takes the confirmations back, and the transfer is found in its new block', async () => {
  const snapshot = await chain.rpc('evm_snapshot')
  const hash = await send('moved')
  await chain.mine(low)
  await untilIs('moved', { confirmations: 1 })
  await chain.rpc('evm_revert', [snapshot])
  await chain.mine(low)
  await chain.mine(low)
  await untilIs('moved', { status: 'broadcast', confirmations: 0, fee: null })
  const settled = await waitFor('the transfer to be mined again', async () => {
    await chain.mine(low)
    const state = await stateOf('moved')
    return state.status === 'confirmed' && state
  })
  expect(settled.txHash).toBe(hash)
})

test.each([
  ['walked', 20],
  ['asked', 1_100],
])('a transfer that was mined while the wallet was down is found later: %s, %i blocks', async (way, blocks) => {
  await send(way)
  await wallet.stop()
  await chain.mine(low)
  await chain.rpc('anvil_mine', [`0x${blocks.toString(16)}`])
  proxy.control.asked = {}
  wallet = await start()
  await untilIs(way, { status: 'confirmed' })
  const isWalked = way === 'walked'
  // For deposits, which another task reads, the two blocks that were not deep enough before are read too, or all by blocks and logs.
  await vi.waitFor(
    () => expect(proxy.control.asked.eth_getBlockReceipts ?? 0).toBe(isWalked ? blocks + 1 + 2 : 0),
    10_000,
  )
  expect(proxy.control.asked.eth_getTransactionReceipt ?? 0).toBe(isWalked ? 0 : 1)
})

test('a node without receipts of whole blocks is asked for the receipts of the transfers', async () => {
  proxy.control.lacks.push('eth_getBlockReceipts')
  await wallet.stop()
  wallet = await start()
  await send('alone')
  proxy.control.asked = {}
  await chain.mine(low)
  await untilIs('alone', { confirmations: 1 })
  for (const _ of [2, 3]) await chain.mine(low)
  await untilIs('alone', { status: 'confirmed' })
  expect(proxy.control.asked.eth_getTransactionReceipt).toBe(1)
  expect(proxy.control.asked.eth_getBlockReceipts ?? 0).toBeLessThanOrEqual(1)
})

const followedBlock = async () => {
  const { rows } = await pool.query<{ block: string }>('select block from wallet.follows')
  return BigInt(rows[0]!.block)
}

test('a node that is a little behind is waited for, and a chain that is much shorter is followed again', async () => {
  await chain.mine(low)
  const head = BigInt(await chain.rpc<string>('eth_blockNumber'))
  await waitFor('the newest block', async () => (await followedBlock()) === head)
  const settings = { rpcUrl: anvil.rpcUrl, chainId: 31337, confirmations: 3, pollMilliseconds: 50 }
  const passAt = async (height: bigint) => {
    const behind = openChain('ethereum', settings)
    const client = { ...behind.client, getBlockNumber: async () => height }
    Object.assign(behind, { client, reach: { reachable: true, headBlock: height } })
    return await followBlocks({ pool, chain: behind, log: openLog('silent') }, height)
  }
  expect(await passAt(head - 16n)).toBe(false)
  expect(await followedBlock()).toBe(head)
  expect(await passAt(head - 17n)).toBe(true)
  expect(await followedBlock()).toBe(head - 17n - 3n)
  await chain.mine(low)
  await waitFor('the newest block again', async () => (await followedBlock()) === head + 1n)
})

test('A transfer that is found by asking is settled although no further block comes.', async () => {
  const id = 'asked-late'
  await send(id)
  await chain.mine(low)
  await chain.mine(low)
  await chain.mine(low)
  await untilIs(id, { status: 'confirmed' })
  await wallet.stop()
  // As a follower leaves the row when it passed the block before the transfer was in flight.
  await pool.query(
    `update wallet.transfers set status = 'broadcast', block_number = null, block_time = null, fee = null, confirmations = 0
     where id = $1`,
    [id],
  )
  const settings = { rpcUrl: anvil.rpcUrl, chainId: 31337, confirmations: 3, pollMilliseconds: 50 }
  const parts = { pool, chain: openChain('ethereum', settings), log: openLog('silent') }
  await askForTransfers(parts, await listInFlight(pool, 'ethereum'), await followedBlock())
  const { rows } = await pool.query('select status, confirmations from wallet.transfers where id = $1', [id])
  expect(rows).toEqual([{ status: 'confirmed', confirmations: 3 }])
  wallet = await start()
})
