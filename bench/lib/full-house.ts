import type { Run } from './run.ts'

const perInsert = 500_000
const began = '2025-01-01T00:00:00Z'

/**
 * Inserts `run.operations` past deposits into the first vault by SQL, in turn on its addresses that take deposits and
 * on those that pay. Their entries come after the existing entries, as the verifier demands.
 */
export async function fillHouse(run: Run): Promise<void> {
  const { world, operations } = run
  const { sql } = run.stack
  const startedAt = performance.now()
  const ids = [...world.spread, ...world.funded].map(({ id }) => id)
  await sql(
    `create table bench_house as
     select a.n - 1 as n, l.number, l.balance, d.id as address_id, d.owner_id, d.network_id
     from unnest($1::text[]) with ordinality a (id, n)
     join addresses d on d.vault_id = $2 and d.id = a.id
     join ledger_accounts l on l.vault_id = $2 and l.address_id = a.id and l.token_id = $3 and l.purpose = 'available'`,
    [ids, world.vault.id, world.usdt.id],
  )
  await sql('alter table bench_house add primary key (n)')
  for (let first = 0; first < operations; first += perInsert) {
    await sql(insert(run, ids.length, first, Math.min(first + perInsert, operations) - 1))
  }
  await sql(
    `update ledger_accounts l set last_entry_at = e.at, balance = l.balance + e.count
     from (select credit_account, count(*) as count, max(created_at) as at from ledger_entries
       where operation_id like 'chouse%' group by 1) e
     where l.number = e.credit_account`,
  )
  await sql('drop table bench_house')
  await sql('vacuum analyze')
  run.acknowledged += operations
  run.record.add('operations in the vault before', '', operations)
  run.record.add('  filled in', 's', (performance.now() - startedAt) / 1_000)
}

/** Builds one transaction. Foreign keys are not looked up row by row: the rows are built to match. */
function insert({ world }: Run, accounts: number, first: number, last: number): string {
  const [vault, token] = [`'${world.vault.id}'`, `'${world.usdt.id}'`]
  const rows = `from generate_series(${first}, ${last}) i join bench_house h on h.n = i % ${accounts}`
  const id = `'chouse' || lpad(i::text, 19, '0')`
  const at = `timestamptz '${began}' + i * interval '1 second'`
  const hash = `'0x' || md5(i::text) || md5('b' || i)`
  return `begin;
    set local session_replication_role = replica;
    insert into operations (vault_id, id, type, status, address_id, owner_id, network_id, token_id, amount, flow_type, tx_hash,
      created_at, confirmed_at, blockchain_at, updated_at)
    select ${vault}, ${id}, 'deposit', 'confirmed', h.address_id, h.owner_id, h.network_id, ${token}, 1, 'external', ${hash},
      ${at}, ${at}, ${at}, ${at} ${rows};
    insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, created_at)
    select ${vault}, ${id}, h.address_id, ${token}, ${hash}, 0, ${at} ${rows};
    insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
    select ${vault}, 'deposit', ${token}, ${id}, h.number, 1, h.balance + i / ${accounts} + 1, now() ${rows} order by i;
    commit`
}
