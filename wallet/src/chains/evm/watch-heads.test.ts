import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../anvil.ts'
import { type RunningWallet, startWallet } from '../../start-wallet.ts'
import { startCuttable } from '../../testing/cut-connections.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { controlChain } from '../../testing/local-chain.ts'
import { deriveTestAddress, testConfig, waitFor } from '../../testing/wallet-client.ts'

let anvil: Anvil
let database: TestDatabase
let wallet: RunningWallet
let pool: pg.Pool

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  pool = new pg.Pool({ connectionString: database.url })
})
afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await anvil?.stop()
  await database?.drop()
})

/** An interval that is longer than the test. */
const pollMilliseconds = 600_000

async function followedBlock(): Promise<number> {
  const { rows } = await pool.query<{ block: string }>('select block from wallet.follows')
  return Number(rows[0]?.block ?? -1)
}

test('a node behind a WebSocket reports each new block before the next reading of the height', async () => {
  const rpcUrl = anvil.rpcUrl.replace('http:', 'ws:')
  const config = testConfig({ databaseUrl: database.url, rpcUrl })
  wallet = await startWallet({
    ...config,
    chains: { ethereum: { rpcUrl, chainId: 31337, confirmations: 1, pollMilliseconds } },
  })
  const chain = controlChain(anvil.rpcUrl)
  const started = Date.now()
  // Before it has subscribed, it is not notified.
  await waitFor('the first block that is reported', async () => {
    await chain.mine()
    return (await followedBlock()) > 0
  })
  for (let count = 0; count < 3; count += 1) {
    await chain.mine()
    const head = Number(await chain.rpc<string>('eth_blockNumber'))
    await waitFor(`block ${head} to be followed`, async () => (await followedBlock()) === head)
  }
  expect(Date.now() - started).toBeLessThan(pollMilliseconds)
})

test('a connection that is lost is replaced at once, and no block is missed meanwhile', async () => {
  const node = await startCuttable(anvil.rpcUrl)
  const chain = controlChain(anvil.rpcUrl)
  const other = await createTestDatabase()
  const config = testConfig({ databaseUrl: other.url, rpcUrl: node.wsUrl })
  const ethereum = { rpcUrl: node.wsUrl, chainId: 31337, confirmations: 1, pollMilliseconds: 8_000 }
  const cut = await startWallet({ ...config, chains: { ethereum } })
  const rows = new pg.Pool({ connectionString: other.url })
  const depositedBlocks = async () =>
    (await rows.query<{ block: number }>('select block_number::int as block from wallet.deposits order by 1')).rows.map(
      ({ block }) => block,
    )
  try {
    const to = await deriveTestAddress(cut.url, 'm/44/60/9/0')
    const [from] = await chain.rpc<string[]>('eth_accounts')
    const paid: number[] = []
    // The local chain mines each payment in a block of its own.
    const pay = async () => {
      const hash = await chain.rpc<string>('eth_sendTransaction', [{ from, to, value: '0x1' }])
      const { blockNumber } = await waitFor('the payment to be mined', () =>
        chain.rpc<{ blockNumber: string } | null>('eth_getTransactionReceipt', [hash]),
      )
      paid.push(Number(blockNumber))
    }
    /** Returns true if the blocks were found before the next reading of the height, so that the node reported them. */
    const isReported = async () => {
      const started = Date.now()
      await waitFor(`deposits of ${paid.length} blocks`, async () => (await depositedBlocks()).length === paid.length)
      return Date.now() - started < 4_000
    }
    await waitFor('the first block that is reported', async () => {
      await pay()
      return (await depositedBlocks()).length > 0
    })
    await isReported()
    for (let round = 0; round < 3; round += 1) {
      node.cut()
      await pay()
      expect(await isReported()).toBe(true)
      await pay()
      expect(await isReported()).toBe(true)
    }
    // While no node answers, the wallet connects again, with pauses.
    node.control.isDown = true
    node.cut()
    for (let count = 0; count < 5; count += 1) await pay()
    await waitFor('an attempt to connect', async () => node.control.connections >= 5)
    node.control.isDown = false
    await waitFor('the blocks of the outage', async () => (await depositedBlocks()).length === paid.length)
    await pay()
    expect(await isReported()).toBe(true)
    expect(await depositedBlocks()).toEqual(paid)
  } finally {
    await cut.stop()
    await rows.end()
    await node.stop()
    await other.drop()
  }
}, 60_000)
