import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { bareDeposits, deposits } from './lib/deposits.ts'
import { measureRounds } from './lib/rounds.ts'
import type { Run } from './lib/run.ts'
import { runOnStack } from './lib/run-bench.ts'
import type { Stack } from './lib/stack.ts'
import { createWorld, fullSize } from './lib/world.ts'

/**
 * Compares our deposits with the transfers of pgledger (github.com/pgr0ss/pgledger), in turns on the same PostgreSQL
 * with the same settings. Its SQL is not part of this project: `--sql` (or PGLEDGER_SQL) names the files, in their
 * order, which are `vendor/scoville-pgsql-ulid/uuid-to-ulid.sql` and `pgledger.sql` of its repository. A transfer of
 * pgledger is two entries, and so is a deposit of ours. A deposit is also an operation, a wallet event with its
 * signature, and a notification.
 */
const { values: options } = parseArgs({
  options: {
    sql: { type: 'string', default: process.env.PGLEDGER_SQL ?? '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    accounts: { type: 'string', default: String(fullSize.spread) },
    clients: { type: 'string', default: '32,256' },
  },
})
/** Of PostgreSQL's default of a hundred connections; more clients share them. A node of the service has thirty. */
const peerConnections = 50
const files = options.sql.split(',').filter(Boolean)
if (files.length === 0) throw new Error('--sql names the files of pgledger, separated by commas')
const scripts = files.map((file) => readFileSync(file, 'utf8'))
const [rounds, seconds, spread] = [Number(options.rounds), Number(options.seconds), Number(options.accounts)]

await runOnStack(async ({ record, stack }) => {
  const world = await createWorld(stack, { vaults: 1, spread, funded: 1 })
  const load = { port: stack.port, seconds }
  const run: Run = { stack, world, record, rounds, seconds, load, acknowledged: world.deposited, operations: 0 }
  const peer = await installPeer(stack)
  for (const clients of options.clients.split(',').map(Number)) {
    const pool = peer.connect(clients)
    const sides = await measureRounds(rounds, {
      peerHot: () => transfers(pool, clients, peer.hot),
      peerSpread: () => transfers(pool, clients, peer.spread),
      hot: () => deposits(run, world.hot, clients),
      spread: () => deposits(run, world.spread, clients),
      bareHot: () => bareDeposits(run, clients, world.hot),
      bareSpread: () => bareDeposits(run, clients, world.spread),
    })
    await pool.end()
    for (const [kind, peerRate, http, bare] of [
      ['one account', sides.peerHot, sides.hot, sides.bareHot],
      [`${spread} accounts`, sides.peerSpread, sides.spread, sides.bareSpread],
    ] as const) {
      record.add(`pgledger, ${kind}, ${clients} clients`, '/s', peerRate)
      record.add('  our deposits with HTTP', '/s', http)
      record.add('  our deposits without HTTP', '/s', bare)
      record.add('  with HTTP, of pgledger', '', http.median / peerRate.median)
      record.add('  without HTTP, of pgledger', '', bare.median / peerRate.median)
    }
  }
  await peer.verify()
  await world.close()
})

type Peer = {
  connect(clients: number): pg.Pool
  /**
   * Returns the paying and the receiving account. Payers take turns; the receiver is always the same account (`hot`),
   * or the neighbour of the payer (`spread`).
   */
  hot: () => [string, string]
  spread: () => [string, string]
  verify(): Promise<void>
}

/** Creates the database of pgledger on the same server. */
async function installPeer(stack: Stack): Promise<Peer> {
  await stack.sql('create database pgledger')
  const url = new URL(stack.databaseUrl)
  url.pathname = '/pgledger'
  const client = new pg.Client({ connectionString: url.href })
  client.on('error', () => {})
  await client.connect()
  for (const script of scripts) await client.query(script)
  const { rows } = await client.query<{ id: string }>(
    `select (pgledger_create_account('account ' || i, 'USDT')).id from generate_series(1, $1::int) i`,
    [spread + 1],
  )
  await client.query('vacuum analyze')
  await client.end()
  const [hot, ...accounts] = rows.map(({ id }) => id)
  let turn = 0
  const next = () => {
    turn += 1
    return accounts[turn % accounts.length]!
  }
  return {
    hot: () => [next(), hot!],
    spread: () => [next(), accounts[(turn + 1) % accounts.length]!],
    connect(clients) {
      const pool = new pg.Pool({ connectionString: url.href, max: Math.min(clients, peerConnections) })
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {}))
      return pool
    },
    /** As with the service's ledger, every balance must be the sum of its entries. */
    async verify() {
      const witness = new pg.Client({ connectionString: url.href })
      await witness.connect()
      const { rows: faults } = await witness.query(
        `select a.id from pgledger_accounts a left join pgledger_entries e on e.account_id = a.id
         group by a.id having a.balance <> coalesce(sum(e.amount), 0) limit 1`,
      )
      await witness.end()
      if (faults.length > 0) throw new Error('The balances of pgledger are not the sums of their entries')
    },
  }
}

/** @returns transfers per second */
async function transfers(pool: pg.Pool, clients: number, next: Peer['hot']): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000
  let inTime = 0
  const query = { name: 'transfer', text: 'select id from pgledger_create_transfer($1, $2, 1)' }
  const call = async () => {
    while (performance.now() < endsAt) {
      await pool.query({ ...query, values: next() })
      if (performance.now() <= endsAt) inTime += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, call))
  return inTime / seconds
}
