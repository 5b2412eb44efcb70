import pg from 'pg'
import { type Hex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPath } from '../addresses.ts'
import { type Anvil, startAnvil } from '../anvil.ts'
import type { Chain } from '../chains/chain.ts'
import { openAccount } from '../chains/evm/account.ts'
import { openChain } from '../chains/evm/open-chain.ts'
import { addClient, findClientByName } from '../clients.ts'
import { migrate } from '../database/migrate.ts'
import { type Keyring, openKeyring } from '../keys/keyring.ts'
import { openLog } from '../log.ts'
import { createTestDatabase, type TestDatabase, testPassphrase } from '../testing/database.ts'
import { controlChain, type LocalChain } from '../testing/local-chain.ts'
import { type Faucet, openFaucet } from '../testing/test-token.ts'
import { waitFor } from '../testing/wallet-client.ts'
import { followBlocks } from './follow-blocks.ts'
import { sendTransfers } from './send-transfers.ts'
import { type SendPoint, sendPoints } from './sign-transfers.ts'

const ofAddress = 30
const paths = ['m/44/60/5/0', 'm/44/60/5/1']
const toAddress = '0x00000000000000000000000000000000000c4a54'
const log = openLog('silent')

let anvil: Anvil
let local: LocalChain
let chain: Chain
let database: TestDatabase
let pool: pg.Pool
let keyring: Keyring
let faucet: Faucet
let clientId: string
let addresses: Hex[]

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  local = controlChain(anvil.rpcUrl)
  await local.setAutomine(false)
  await local.mine(parseGwei('1'))
  faucet = openFaucet(anvil.rpcUrl)
  chain = openChain('ethereum', { rpcUrl: anvil.rpcUrl, chainId: 31337, confirmations: 1, pollMilliseconds: 50 })
  pool = new pg.Pool({ connectionString: database.url })
  pool.on('error', () => undefined)
  await migrate(pool)
  keyring = await openKeyring(pool, testPassphrase)
  await addClient(pool, keyring, 'crash')
  clientId = (await findClientByName(pool, 'crash'))!
  addresses = await Promise.all(
    paths.map(async (derivationPath) => {
      const { address } = await openAccount(keyring, clientId, readPath({ coinType: 60, derivationPath }))
      await local.setBalance(address, parseEther('10'))
      return address
    }),
  )
})
afterAll(async () => {
  await pool?.end()
  await anvil?.stop()
  await database?.drop()
})

async function order(prefix: string): Promise<void> {
  for (const [position, address] of addresses.entries())
    await pool.query(
      `insert into wallet.transfers (client_id, id, network, coin_type, derivation_path, from_address, to_address, amount)
       select $1, $2 || n, 'ethereum', 60, $3, $4, $5, 1 from generate_series(1, $6::int) n`,
      [clientId, `${prefix}-${position}-`, paths[position], address, toAddress, ofAddress],
    )
}

const never = () => new Promise<never>(() => undefined)

/** Runs a process that sends until it comes to the point, and is killed there: it does nothing more, and its connections end. */
async function sendAndDie(point: SendPoint): Promise<void> {
  const name = `dies-${point}`
  const mortal = new pg.Pool({ connectionString: database.url, application_name: name })
  mortal.on('error', () => undefined)
  // A connection in use reports its end itself.
  mortal.on('connect', (client) => client.on('error', () => undefined))
  await new Promise<void>((reached) => {
    const at = async (here: SendPoint) => {
      if (here !== point) return
      // The work for the other address stops too.
      Object.assign(mortal, { connect: never, query: never })
      reached()
      await never()
    }
    void sendTransfers({ pool: mortal, keyring, authorities: null, chain, log, at }).catch(() => undefined)
  })
  await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name])
}

/** Ends the lease of the dead process. */
const release = () =>
  pool.query("update wallet.transfers set next_attempt_at = now() where status = 'queued' or resend")

test.each(sendPoints)(
  'a process that ends when transfers are %s loses none, pays none twice and leaves no gap',
  async (point) => {
    const before = await Promise.all(addresses.map((address) => faucet.getTransactionCount({ address })))
    const paidBefore = await faucet.getBalance({ address: toAddress })
    await order(point)
    await sendAndDie(point)
    const { rows: kept } = await pool.query<{ id: string; tx_hash: Hex }>(
      "select id, tx_hash from wallet.transfers where id like $1 || '-%' and tx_hash is not null",
      [point],
    )
    await waitFor('all to be settled', async () => {
      await release()
      await sendTransfers({ pool, keyring, authorities: null, chain, log })
      await local.mine(parseGwei('1'))
      await followBlocks({ pool, chain, log }, await faucet.getBlockNumber())
      const { rowCount } = await pool.query("select from wallet.transfers where status in ('queued', 'broadcast')")
      return rowCount === 0
    })
    const { rows } = await pool.query<{ id: string; status: string; tx_hash: Hex; count: number }>(
      `select id, status, tx_hash, (select count(*)::int from wallet.transactions v
       where v.client_id = t.client_id and v.id = t.id) as count from wallet.transfers t where id like $1 || '-%'`,
      [point],
    )
    expect(rows).toHaveLength(2 * ofAddress)
    expect(rows.every(({ status, count }) => status === 'confirmed' && count === 1)).toBe(true)
    const hashes = new Map(rows.map(({ id, tx_hash }) => [id, tx_hash]))
    for (const { id, tx_hash } of kept) expect(hashes.get(id)).toBe(tx_hash)
    expect((await faucet.getBalance({ address: toAddress })) - paidBefore).toBe(BigInt(2 * ofAddress))
    for (const [position, address] of addresses.entries())
      expect(await faucet.getTransactionCount({ address })).toBe(before[position]! + ofAddress)
    // Rows that the process stored before it died are kept: all rows of an address or no row.
    const isStored = ['stored', 'sent', 'marked'].includes(point)
    expect(kept.length >= ofAddress).toBe(isStored)
  },
)

test('rows that cannot be signed hold up none of the others of their address', async () => {
  const paidBefore = await faucet.getBalance({ address: toAddress })
  await order('beside')
  await pool.query("update wallet.transfers set to_address = '0x12' where id = 'beside-0-3'")
  await pool.query("update wallet.transfers set derivation_path = 'm/44/60/5/9' where id = 'beside-1-1'")
  await sendTransfers({ pool, keyring, authorities: null, chain, log })
  await local.mine(parseGwei('1'))
  expect((await faucet.getBalance({ address: toAddress })) - paidBefore).toBe(BigInt(2 * ofAddress - 2))
  const { rows } = await pool.query("select id, nonce from wallet.transfers where status = 'queued' order by id")
  expect(rows).toEqual([
    { id: 'beside-0-3', nonce: null },
    { id: 'beside-1-1', nonce: null },
  ])
})
