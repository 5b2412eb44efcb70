import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { controlChain } from '../testing/local-chain.ts'
import { testConfig, waitFor } from '../testing/wallet-client.ts'

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

/** An interval at which nothing would be seen within the test. */
const pollMilliseconds = 600_000

async function followedBlock(): Promise<number> {
  const { rows } = await pool.query<{ block: string }>('select block from wallet.follows')
  return Number(rows[0]?.block ?? -1)
}

test('a node behind a WebSocket tells each new block, and the height is not waited for', async () => {
  const rpcUrl = anvil.rpcUrl.replace('http:', 'ws:')
  const config = testConfig({ databaseUrl: database.url, rpcUrl })
  wallet = await startWallet({
    ...config,
    chains: { ethereum: { rpcUrl, chainId: 31337, confirmations: 1, pollMilliseconds } },
  })
  const chain = controlChain(anvil.rpcUrl)
  const started = Date.now()
  // Until it has subscribed it is told nothing.
  await waitFor('the first block that is told', async () => {
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
