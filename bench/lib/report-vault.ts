import { cpSync } from 'node:fs'
import { openDatabase } from '../../server/src/db/client.ts'

/** The vault that the benchmark of reports reads. */

export const vaultId = 'cmbenchvault0000000000000'
export const owner = 'cmbenchowner0000000000000'
export const [large, small] = ['cmbenchlarge0000000000000', 'cmbenchsmall0000000000000']

/** Returns the id of one of the hundred counterparties. */
export const partyId = (n: number) => `cmparty${String(n).padStart(18, '0')}`

const laterEntry = (n: number, address: string) =>
  `insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, created_at)
    values ('${vaultId}', 'cmbenchlater00000000000${n}', 'cmparty' || lpad('${n}', 18, '0'), 'cmbenchnetwork00000000000',
      '${address}', '${address}', '2027-01-01')`

/** Faults of one operation in a hundred, in ten thousand and in a hundred thousand. */
const faults = [
  `delete from counterparty_addresses where address = '0xparty8'`,
  laterEntry(10, '0xparty8'),
  `update deposits set from_address = '0xlate' where right(id, 4) = '0003'`,
  laterEntry(11, '0xlate'),
  'alter table operations disable trigger operations_keep_rate',
  `update operations set usd_rate = null, usd_value = null where right(id, 5) = '00011'`,
  'alter table operations enable trigger operations_keep_rate',
  `update operations set blockchain_at = null where right(id, 5) = '00021'`,
  `delete from ledger_entries where right(operation_id, 5) = '00031'`,
  `insert into operation_relations (vault_id, id, source_operation_id, source_operation_type, source_address_id,
      target_operation_id, target_operation_type, relation_type, related_amount, token_id, created_by_id, created_at)
    select distinct on (o.id) o.vault_id, o.id, o.id, o.type, o.address_id, p.id, p.type, 'refund', p.amount + 1, p.token_id,
      '${owner}', o.created_at
    from operations o join operations p on p.vault_id = o.vault_id and p.address_id = o.address_id and p.token_id = o.token_id
      and right(p.id, 5) = '00044' and p.id <> o.id
    where right(o.id, 5) = '00041'`,
]

/**
 * Inserts an address with all operations and an address with a thousand: three tokens, a hundred counterparties,
 * matching entries.
 * tidy: long because it is a list of statements
 */
export async function seed(url: string, operations: number): Promise<void> {
  // The compiled code reads the SQL files from its own folder.
  cpSync(
    new URL('../../../../server/src/db/migrations', import.meta.url),
    new URL('../../server/src/db/migrations', import.meta.url),
    {
      recursive: true,
    },
  )
  cpSync(
    new URL('../../../../server/src/db/roles.sql', import.meta.url),
    new URL('../../server/src/db/roles.sql', import.meta.url),
  )
  const { migrate } = await import('../../server/src/db/migrate.ts')
  await migrate(url)
  const { db, pool } = openDatabase({ url, statementMilliseconds: 0, onError: (error) => console.error(error.message) })
  const wanted = [
    [large, operations],
    [small, 1_000],
  ] as const
  const statements = [
    'set role none',
    `insert into networks (id, coin_type, code, slug, name, type, created_at, updated_at)
      values ('cmbenchnetwork00000000000', 60, 'ethereum', 'ethereum', 'Ethereum', 'evm', now(), now())`,
    `insert into tokens (id, network_id, code, symbol, name, contract_address, contract_key, decimals, created_at, updated_at)
      select ${id('token', 'i')}, 'cmbenchnetwork00000000000', 'T' || i, 'T' || i, 'Token ' || i, '0x' || i, '0x' || i, 6, now(), now()
      from generate_series(1, 3) i`,
    `insert into users (id, email, created_at, updated_at) values ('${owner}', 'treasurer@example.org', now(), now())`,
    `insert into vaults (id, code, name, wallet_service_url, created_at, updated_at)
      values ('${vaultId}', 'bench', 'Bench', 'http://127.0.0.1', now(), now())`,
    `insert into counterparties (vault_id, id, name, kind, created_by_id, created_at, updated_at)
      select '${vaultId}', ${id('party', 'i')}, 'Party ' || i, 'company', '${owner}', '2025-01-01', '2025-01-01'
        from generate_series(0, 99) i`,
    `insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, created_at)
      select '${vaultId}', ${id('place', 'i')}, ${id('party', 'i')}, 'cmbenchnetwork00000000000', '0xparty' || i, '0xparty' || i,
        '2025-01-01'
      from generate_series(0, 99) i`,
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
        approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
      values ('${vaultId}', 'cmbenchcategory0000000000', 'payroll', 'Payroll', 'both', 'vault_members', 'vault_members',
        'vault_members', 'none', 0, false, '${owner}', '${owner}', now(), now())`,
    ...wanted.flatMap(([addressId, count], n) => {
      const operationId = id(`op${n}x`, 'i')
      const ofAddress = `o.vault_id = '${vaultId}' and o.address_id = '${addressId}'`
      const account = (alias: string, purpose: string) =>
        `join ledger_accounts ${alias} on ${alias}.vault_id = o.vault_id and ${alias}.address_id = o.address_id and ` +
        `${alias}.token_id = o.token_id and ${alias}.purpose = '${purpose}'`
      return [
        `insert into addresses (vault_id, id, network_id, address, address_key, derivation_path, static_prefix, path_index, segments,
            owner_id, created_at, updated_at)
          values ('${vaultId}', '${addressId}', 'cmbenchnetwork00000000000', '0xown${n}', '0xown${n}', 'm/44/60/${n}', 'm/44/60',
            ${n}, '{}',
            '${owner}', now(), now())`,
        `insert into ledger_accounts (vault_id, id, token_id, address_id, purpose, balance, created_at)
          select '${vaultId}', 'cmacc${n}' || right(t.id, 4) || p, t.id, '${addressId}', p, 0, now() from tokens t,
            (values ('available'), ('reserved')) x(p)`,
        // Seven of ten operations are deposits. A seventh each of the transfers are failed, rejected and pending.
        `insert into operations (vault_id, id, type, status, address_id, owner_id, initiator_id, network_id, token_id, amount, flow_type,
            tx_hash, usd_rate, usd_value, counterparty_id, counterparty_address_id, counterparty_name, counterparty_kind,
            payment_purpose, created_at, confirmed_at, blockchain_at, updated_at)
          select '${vaultId}', ${operationId}, case when i % 10 < 7 then 'deposit' else 'transfer' end,
            case when i % 10 < 7 then 'confirmed'
              else (array['confirmed', 'confirmed', 'confirmed', 'confirmed', 'failed', 'rejected', 'pending'])[1 + (i / 10) % 7] end,
            '${addressId}', '${owner}', case when i % 10 < 7 then null else '${owner}' end, 'cmbenchnetwork00000000000',
            ${id('token', '(1 + i % 3)')}, 1 + (random() * 1e12)::bigint, 'external', '0x' || md5(i::text) || md5(i::text), 1,
            round((random() * 10000)::numeric, 2),
            case when i % 2 = 0 then ${id('party', '(i % 100)')} end, case when i % 2 = 0 then ${id('place', '(i % 100)')} end,
            case when i % 2 = 0 then 'Party ' || i % 100 end, case when i % 2 = 0 then 'company' end,
            case when i % 5 = 0 then 'Invoice' end, at, at, at, at
          from (select i, timestamptz '2026-01-01' + i * (interval '364 days' / ${count}) as at from generate_series(1, ${count}) i) made`,
        `insert into transfers (vault_id, id, to_address, to_address_key, payload, payload_hash, decision, created_at)
          select vault_id, id, coalesce('0x' || lower(replace(counterparty_name, ' ', '')), '0x'),
            coalesce('0x' || lower(replace(counterparty_name, ' ', '')), '0x'),
            '{}', '', '{}', created_at from operations o where ${ofAddress} and type = 'transfer'`,
        `insert into deposits (vault_id, id, address_id, token_id, tx_hash, from_address, created_at)
          select vault_id, id, address_id, token_id, tx_hash, '0x' || lower(replace(counterparty_name, ' ', '')), created_at
          from operations o where ${ofAddress} and type = 'deposit'`,
        `insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
          select o.vault_id, 'deposit', o.token_id, o.id, a.number, o.amount, 0, o.created_at
          from operations o ${account('a', 'available')} where ${ofAddress} and o.type = 'deposit' order by o.id`,
        `insert into ledger_entries (vault_id, kind, token_id, operation_id, debit_account, debit_balance, credit_account,
          credit_balance, amount, created_at)
          select o.vault_id, 'reserve', o.token_id, o.id, a.number, 0, r.number, 0, o.amount, o.created_at
          from operations o ${account('a', 'available')} ${account('r', 'reserved')} where ${ofAddress}
            and o.type = 'transfer' order by o.id`,
        `insert into ledger_entries (vault_id, kind, token_id, operation_id, debit_account, debit_balance, amount, created_at)
          select o.vault_id, 'settle', o.token_id, o.id, r.number, 0, o.amount, o.created_at
          from operations o ${account('r', 'reserved')} where ${ofAddress} and o.type = 'transfer'
            and o.status = 'confirmed' order by o.id`,
        `insert into ledger_entries (vault_id, kind, token_id, operation_id, debit_account, debit_balance, credit_account,
          credit_balance, amount, created_at)
          select o.vault_id, 'release', o.token_id, o.id, r.number, 0, a.number, 0, o.amount, o.created_at
          from operations o ${account('a', 'available')} ${account('r', 'reserved')}
          where ${ofAddress} and o.status in ('failed', 'rejected') order by o.id`,
        // One operation in fifty has a category; one in twenty needed a vote, and one in twenty is in a payout of ten that did.
        `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id, values,
          assigned_by_id, created_at, updated_at)
          select vault_id, id, id, type, created_at, 'cmbenchcategory0000000000', '{}', '${owner}', created_at, created_at
          from operations o where ${ofAddress} and right(id, 2)::int % 50 = 0`,
        `insert into approval_requirements (vault_id, subject_id, policy_id, policy_code, policy_name, threshold,
          allow_initiator, created_at)
          select vault_id, id, 'cmbenchpolicy000000000000', 'large', 'Large', 1, false, created_at
          from operations o where ${ofAddress} and type = 'transfer' and right(id, 2)::int % 20 = 9`,
        `insert into approval_voters (vault_id, id, subject_id, user_id, decision, voted_at, created_at)
          select vault_id, id, id, '${owner}', 'approve', created_at + interval '1 hour', created_at
          from operations o where ${ofAddress} and type = 'transfer' and right(id, 2)::int % 20 = 9 and status = 'confirmed'`,
        ...rowsOfPayouts(n, { ofAddress, owner }),
      ]
    }),
    ...faults,
    'vacuum analyze',
  ]
  const client = await pool.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    client.release(true)
    await db.destroy()
  }
}

/** SQL: an id with the prefix and a number. */
const id = (prefix: string, i: string) => `'cm${prefix}' || lpad(${i}::text, ${23 - prefix.length}, '0')`

/** Puts one operation in twenty of an address into payouts of ten rows, which needed a vote. */
function rowsOfPayouts(n: number, { ofAddress, owner }: { ofAddress: string; owner: string }): string[] {
  return [
    `update transfers t set payout_id = ${id(`pay${n}x`, '(right(t.id, 9)::int / 200)')},
        payout_row = 1 + right(t.id, 9)::int % 200 / 20
      from operations o where o.vault_id = t.vault_id and o.id = t.id and ${ofAddress} and right(t.id, 2)::int % 20 = 8`,
    `insert into approval_requirements (vault_id, subject_id, policy_id, policy_code, policy_name, threshold,
      allow_initiator, created_at)
      select t.vault_id, t.payout_id, 'cmbenchbatches00000000000', 'batches', 'Batches', 1, false, min(t.created_at)
      from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
      where ${ofAddress} and t.payout_id is not null group by t.vault_id, t.payout_id`,
    `insert into approval_voters (vault_id, id, subject_id, user_id, decision, voted_at, created_at)
      select q.vault_id, q.subject_id, q.subject_id, '${owner}', 'approve', q.created_at + interval '1 hour', q.created_at
      from approval_requirements q where q.policy_id = 'cmbenchbatches00000000000' and q.subject_id like 'cmpay${n}x%'`,
  ]
}
