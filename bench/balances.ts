import { addressScopeOf } from '../server/src/access/address-scope.ts'
import { openDatabase } from '../server/src/db/client.ts'
import { listTotals } from '../server/src/modules/money/ledger/queries.ts'
import { totalsOfAccounts, withFeedDatabases } from './lib/feed-database.ts'
import { toSeries } from './lib/rounds.ts'
import { runBench } from './lib/run-bench.ts'

/**
 * Measures how an administrator reads the totals of a vault with very many accounts: first with every entry sealed,
 * then with unsealed entries of two seconds at 1,000 deposits a second. BENCH_ACCOUNTS sets the number of accounts.
 */
const accounts = Number(process.env.BENCH_ACCOUNTS ?? 1_000_000)
const waiting = 2_000
const reads = 200
const tokens = 5

const size = { members: 10, addresses: Math.ceil(accounts / tokens / 2), operations: 100, shared: 1 }
await runBench(async (record) => {
  await withFeedDatabases([size], async (filled) => {
    const { url, world } = filled!
    const { db, pool } = openDatabase({
      url,
      statementMilliseconds: 0,
      onError: (error) => console.error(error.message),
    })
    const asOwner = async (statement: string) => {
      const client = await pool.connect()
      try {
        await client.query('set role none')
        return (await client.query(statement)).rows
      } finally {
        client.release(true)
      }
    }
    try {
      await asOwner(`insert into ledger_accounts (vault_id, id, token_id, address_id, purpose, balance, created_at)
        select a.vault_id, 'cl' || x.p || right(t.id, 3) || right(a.id, 12), t.id, a.id, x.purpose, 5, now()
        from addresses a, tokens t, (values ('0000000', 'available'), ('1111111', 'reserved')) x (p, purpose)
        where t.id <= '${world.idOf('token', tokens)}'`)
      await asOwner(totalsOfAccounts)
      await asOwner('vacuum analyze ledger_accounts, ledger_totals')
      const [{ count }] = await asOwner(`select count(*)::int as count from ledger_accounts`)
      record.add('accounts', '', count)
      const viewer = { userId: world.idOf('user', 1), readsAll: true, groupIds: [], vault: { id: world.vaultId } }
      const scope = addressScopeOf(viewer)
      const measure = async (name: string) => {
        const times: number[] = []
        for (let i = 0; i < reads; i += 1) {
          const began = performance.now()
          const totals = await listTotals(db, scope, { addressId: null, token: null }, new Date())
          times.push(performance.now() - began)
          if (totals.length !== tokens) throw new Error(`${totals.length} tokens`)
        }
        record.expect('totals', record.add(name, 'ms', toSeries(times)), name.trim())
      }
      await measure('balances in total')
      await asOwner(`with e as (
          insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
          select l.vault_id, 'deposit', l.token_id, l.id, l.number, 5, 5, now() from ledger_accounts l
          where l.purpose = 'available' order by md5(l.id) limit ${waiting} returning vault_id, sequence
        ) insert into ledger_unsealed (vault_id, sequence, created_at) select vault_id, sequence, now() from e`)
      await measure(`  with ${waiting} entries that wait for their seal`)
      const began = performance.now()
      await asOwner(`select token_id, purpose, sum(balance) from ledger_accounts where address_id <> '' group by 1, 2`)
      record.add('a sum over the accounts', 'ms', performance.now() - began)
    } finally {
      await db.destroy()
    }
  })
})
