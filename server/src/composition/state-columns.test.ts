import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addMember } from '../testing/fixtures.ts'
import { databaseOf } from '../testing/one-transaction.ts'
import { recordPeople } from '../testing/record-people.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { verifyState } from './verify-state.ts'

/**
 * Every column of what decides, or what a page of a vote shows: compared with the record by `strongroom state verify`, or not, and
 * why. A new column of one of these tables, and a new table, fails until it has its place here.
 */
type Columns = {
  /** Each is changed by this test, as the owner of the database, and must be named. */
  compared: string
  /** By the reason why it is not compared. */
  notCovered: Record<string, string>
}

const times = 'when it was written; no decision reads it'
const looks = 'how it looks; no decision reads it'
const keys = 'its key: another one is another row, and the row of the record is gone'

const tables: Record<string, Columns> = {
  users: {
    compared: 'email is_platform_admin disabled_at',
    notCovered: {
      [keys]: 'id',
      [looks]: 'name username image color emoji',
      [times]: 'created_at updated_at',
      'a kind that differs has no token and no membership of its own, which are compared': 'kind',
      'which mails a person wants': 'notify_approvals notify_decisions',
      'verified with the passkey that it permits, which is compared': 'first_passkey_until',
    },
  },
  tokens: {
    compared: 'network_id code contract_address contract_key decimals enabled',
    notCovered: {
      [keys]: 'id',
      [looks]: 'name logo_uri',
      [times]: 'created_at updated_at',
      'shown beside the code, which is compared; a signed order has the symbol of its authority': 'symbol',
      'marks deposits as dust, and pays nothing': 'dust_limit',
    },
  },
  addresses: {
    compared: 'owner_id network_id address derivation_path',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'label description tags logo_uri color emoji',
      [times]: 'created_at updated_at',
      'follows from the address, and is derived from the key of the vault where it has one': 'address_key',
      'follow from the derivation path, which is compared': 'static_prefix path_index segments',
      'the token that an order names when it names none; the order is compared': 'token_id',
    },
  },
  counterparties: {
    compared: 'name kind archived_at',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'description avatar_uri color emoji',
      [times]: 'created_at updated_at created_by_id',
      'counts changes, for waiting requests': 'version',
    },
  },
  counterparty_addresses: {
    compared: 'counterparty_id network_id address address_key',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'label',
      'the age of an entry is a fact; the record has its time': 'created_at',
    },
  },
  operation_categories: {
    compared:
      'key applies_to view_scope assign_scope edit_scope approval_scope approval_threshold allow_initiator_approval archived',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'name description emoji color',
      [times]: 'created_at updated_at created_by_id updated_by_id',
      'keeps a category from being archived': 'is_system',
      'counts changes': 'version',
    },
  },
  policies: {
    compared:
      'group_id code name action_type effect enabled rules block_reason approval_threshold allow_initiator_approval admin_bypass',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'description logo_uri color emoji',
      [times]: 'created_at updated_at',
    },
  },
  policy_groups: {
    compared: 'code name',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'description logo_uri color emoji',
      [times]: 'created_at updated_at',
      'keeps a group from being deleted': 'is_system',
    },
  },
  policy_group_memberships: {
    compared: 'group_id user_id',
    notCovered: { [keys]: 'vault_id id', [times]: 'created_at' },
  },
  governance: {
    compared: 'threshold approver_group_id loosening_delay_hours tightening_delay_hours',
    notCovered: { [keys]: 'vault_id', [times]: 'updated_at' },
  },
  vaults: {
    compared: 'wallet_service_url wallet_service_secret',
    notCovered: {
      [keys]: 'id code',
      [looks]: 'name description logo_uri',
      [times]: 'created_at updated_at',
      'compared where there is one': 'wallet_webhook_secret wallet_key',
      'in the newest version of the rules, with which it is compared': 'protection',
      'a draft has no addresses': 'locked_at',
    },
  },
}

/** Tables that have their own verifier beside the one of the state, or that no decision reads. */
const elsewhere: Record<string, string> = {
  'record and seals': 'audit_records audit_seals ledger_seals ledger_unsealed witnesses sealing_key',
  'verified by the ledger':
    'ledger_accounts ledger_entries adjustments exposure_covers deposit_orphans deposits wallet_events ledger_verifications',
  'compared with their records by the same command, as whole rows':
    'operations transfers payouts approval_requests approval_requirements approval_voters approval_eligibilities holds passkeys ' +
    'policy_approvers rules_versions rules_heads account_keys signed_votes service_keys',
  'not covered: who may see or spend from an address, and what folders it is in':
    'address_grants address_groups address_group_grants address_group_members address_group_membership_log',
  'not covered: rates, which a decision reads, are verified by nobody after the fact': 'token_rates held_rates',
  'not covered: members of groups of the address book': 'counterparty_groups counterparty_group_memberships',
  'not covered: sessions and tokens let somebody act as a person; what they do is on the record':
    'sessions magic_links known_devices sign_in_attempts failed_redemptions used_passkey_challenges service_tokens invitations ' +
    'invitation_groups user_preferences',
  'not covered: fields, grants and approvers of categories; approvers are in the rules':
    'category_fields category_grants category_approvers category_assignments',
  'not covered: the registry of networks and the structure of a vault; an order has both in its record':
    'networks vault_networks routes variants withheld_tokens',
  'not covered: what the screening answered': 'screenings',
  'not covered: what two platform administrators are to agree on': 'platform_changes',
  'not covered: signed stops that are handed over; who deletes one delays it': 'stops_due',
  'not covered: the highest authority that was seen, which witnesses and people keep too': 'authority_marks',
  'not covered: who was paid before, a fact of the first payment': 'paid_recipients',
  'what waits is compared when it is voted on': 'change_sets decisions',
  'no decision reads them':
    'announcements notifications queued_mails backtests backtest_changes changes images idempotency_keys operation_relations ' +
    'operation_relation_readers reconciliations reconciliation_differences report_exports report_export_chunks',
}

const words = (text: string): string[] => text.split(' ')

let bench: TransferBench
beforeAll(async () => {
  bench = await createTransferBench()
  const { admin } = bench.vault
  const base = `/vaults/${bench.vault.code}` as const
  await bench.policy({ code: 'named', effect: 'block', blockReason: 'No', rules: [] })
  for (const action of ['create', 'update'])
    expect(
      (
        await admin.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, {
          code: `allow-${action}`,
          name: 'Allow',
          actionType: `counterparty_${action}`,
          effect: 'allow',
        })
      ).status,
    ).toBe(201)
  const party = { name: 'Payee', kind: 'company', addresses: [{ network: 'ethereum', address: bench.recipient }] }
  expect((await admin.post(`${base}/counterparties`, party)).status).toBe(201)
  expect((await admin.post(`${base}/operation-categories`, { key: 'salaries', name: 'Salaries' })).status).toBe(201)
  const governance = { threshold: 1, looseningDelayHours: 0, tighteningDelayHours: 0 }
  await bench.fundedAddress()
  await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  expect((await admin.put(`${base}/governance`, governance)).status).toBe(200)
  await recordPeople(bench.test.deps)
})
afterAll(() => bench.close())

type Column = { table: string; column: string; type: string }

const listColumns = (): Promise<Column[]> =>
  bench.sql(`
    select c.table_name as "table", c.column_name as "column", c.data_type as type
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name not like 'schema\\_%'
      and c.is_generated = 'NEVER'`)

/** SQL: another value of a column. */
function another({ column, type }: Column): string {
  if (type === 'boolean') return `not ${column}`
  if (type === 'jsonb')
    return `case ${column} when '[]' then '[{"conditionType": "require", "selectors": []}]'::jsonb else '[]' end`
  if (type === 'bytea') return `'\\x00'`
  if (type.startsWith('timestamp')) return `case when ${column} is null then now() end`
  if (['integer', 'smallint', 'bigint', 'numeric'].includes(type)) return `${column} + 1`
  return `coalesce(${column}, '') || 'x'`
}

describe('T57 every column of what decides', () => {
  it('T57 is compared with the record, or listed with the reason why it is not', async () => {
    const columns = await listColumns()
    const listed = Object.entries(tables).flatMap(([table, { compared, notCovered }]) =>
      [compared, ...Object.values(notCovered)].flatMap(words).map((column) => `${table}.${column}`),
    )
    const ofTables = columns.filter(({ table }) => table in tables).map(({ table, column }) => `${table}.${column}`)
    expect(listed.toSorted()).toEqual(ofTables.toSorted())
    const others = new Set(columns.map(({ table }) => table).filter((table) => !(table in tables)))
    expect(Object.values(elsewhere).flatMap(words).toSorted()).toEqual([...others].toSorted())
  })

  it('T57 is named by the verifier when the owner of the database changes it', async () => {
    expect((await verifyState(bench.test.deps.db)).differences).toEqual([])
    const columns = await listColumns()
    const missed: string[] = []
    for (const [table, { compared }] of Object.entries(tables)) {
      for (const name of words(compared)) {
        const column = columns.find((one) => one.table === table && one.column === name)!
        const differences = await differencesAfter(column)
        if (differences === 0) missed.push(`${table}.${name}`)
      }
    }
    expect(missed).toEqual([])
  })
})

/** How many differences there are after one row got another value of the column. */
function differencesAfter(column: Column): Promise<number> {
  const { table, column: name } = column
  return bench.rolledBack(async (query) => {
    await query('set local session_replication_role = replica')
    const checks = await query(
      `select conname from pg_constraint where contype in ('c', 'f') and conrelid = '${table}'::regclass`,
    )
    for (const { conname } of checks) await query(`alter table ${table} drop constraint ${conname}`)
    await query(`update ${table} set ${name} = ${another(column)} where ctid = (select min(ctid) from ${table})`)
    return (await verifyState(databaseOf(query, bench.test.deps.db))).differences.length
  })
}
