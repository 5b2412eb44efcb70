import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPath } from '../addresses.ts'
import { lockClient, lockDay, lockJournal, lockOrder } from '../authority/protection.ts'
import { openAccount } from '../chains/evm/account.ts'
import { openChain } from '../chains/evm/open-chain.ts'
import { addClient, findClientByName } from '../clients.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { migrate } from '../database/migrate.ts'
import { type Keyring, openKeyring } from '../keys/keyring.ts'
import { createTestDatabase, type TestDatabase, testPassphrase } from '../testing/database.ts'
import { orderTransfer } from './order-transfer.ts'

let database: TestDatabase
let pool: pg.Pool
let keyring: Keyring
let clientId: string

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  // Dropping the database ends connections that are being closed.
  pool.on('error', () => undefined)
  await migrate(pool)
  keyring = await openKeyring(pool, testPassphrase)
  await addClient(pool, keyring, 'busy')
  clientId = (await findClientByName(pool, 'busy'))!
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

const derivationPath = 'm/44/60/0'
const coin = { network: 'ethereum', contractAddress: null }
// No order asks the node.
const chain = openChain('ethereum', {
  rpcUrl: 'http://127.0.0.1:1',
  chainId: 1,
  confirmations: 1,
  pollMilliseconds: 50,
})

async function order(id: string) {
  const { address } = await openAccount(keyring, clientId, readPath({ coinType: 60, derivationPath }))
  const toAddress = `0x${'1'.repeat(40)}`
  const sent = { id, ...coin, coinType: 60, derivationPath, fromAddress: address, toAddress, amount: '1' }
  return await orderTransfer({ pool, keyring, authorities: null, chain }, clientId, sent)
}

async function waiting(): Promise<number> {
  const { rowCount } = await pool.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rowCount!
}

test('an order waits neither for other orders of its client nor for running signatures', async () => {
  await inTransaction(pool, async (tx) => {
    await lockOrder(tx, clientId, 'other')
    await lockDay(tx, clientId, coin)
    await lockJournal(tx, clientId)
    expect((await order('beside')).status).toBe('queued')
  })
})

test.each([
  ['a change of the authority or a stop', lockClient],
  ['the same order', (tx: pg.PoolClient) => lockOrder(tx, clientId, 'waits')],
])('an order waits for %s', async (_name, lock) => {
  let isTaken = false
  const { taken } = await inTransaction(pool, async (tx) => {
    await lock(tx, clientId)
    const taken = order('waits').finally(() => {
      isTaken = true
    })
    await expect.poll(waiting).toBe(1)
    expect(isTaken).toBe(false)
    return { taken }
  })
  expect((await taken).status).toBe('queued')
})

test('an order that is sent many times at once is taken once', async () => {
  const taken = await Promise.all(Array.from({ length: 8 }, () => order('many')))
  expect(new Set(taken.map(({ sequence }) => sequence)).size).toBe(1)
})
