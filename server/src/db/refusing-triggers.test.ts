import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'

/**
 * Tests the triggers that refuse statements, except those for unpublished rules (governance/database-guards.test.ts). Each statement
 * that a trigger refuses passes when the trigger is dropped.
 */
let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
  const { id } = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  await bench.order(id, '50')
})
afterAll(() => bench?.close())

type Refused = { table: string; before?: string[]; statements: string[]; message: string }

/** A value that is sealed under another key, or in an earlier format. */
const foreign = `'\\x03'::bytea || sha256('another key')`

const sealed = (table: string, column: string): Refused => ({
  table,
  before: [`insert into ${table} (${column}) values (null)`],
  statements: [
    `insert into ${table} (${column}) values (${foreign})`,
    `update ${table} set ${column} = ${foreign} where ${column} is null`,
  ],
  message: 'is sealed under another key than the present one',
})

const refusedByTrigger: Record<string, Refused> = {
  address_check_kept: {
    table: 'vault_networks',
    before: [`update vault_networks set address_check = 'derived'`],
    statements: [`update vault_networks set address_check = 'none'`, 'delete from vault_networks'],
    message: 'follow from pinned keys',
  },
  body_sealed: sealed('idempotency_keys', 'body'),
  client_secret_sealed: sealed('identity_providers', 'client_secret'),
  operations_keep_fee: {
    table: 'operations',
    before: [`update operations set fee_amount = 21000, fee_booked_at = now()`],
    statements: ['fee_amount', 'fee_booked_at', 'fee_usd_rate', 'fee_usd_value'].map(
      (column) => `update operations set ${column} = null`,
    ),
    message: 'is booked once and cannot be changed',
  },
  operations_keep_rate: {
    table: 'operations',
    statements: ['usd_rate', 'usd_rate_as_of', 'usd_value'].map((column) => `update operations set ${column} = null`),
    message: 'cannot be changed, only added once',
  },
  recorded_under_present_key: {
    table: 'audit_records',
    statements: [
      `insert into audit_records (chain, id, action, target_type, target_id, created_at, content, hash, mac)
       select chain, 'another', action, target_type, target_id, created_at, content, hash, set_byte(mac, 0, get_byte(mac, 0) # 1)
       from audit_records limit 1`,
    ],
    message: 'an audit record has a MAC under another key than the present one',
  },
  sealing_format_kept: {
    table: 'sealing_key',
    statements: ['update sealing_key set format = 2'],
    message: 'The format of sealed values never goes back',
  },
  secrets_sealed: sealed('change_sets', 'secrets'),
  service_secret_sealed: sealed('vaults', 'wallet_service_secret'),
  token_sealed: sealed('invitations', 'token_sealed'),
  wallet_key_pinned: {
    table: 'vaults',
    before: [`update vaults set wallet_key = 'the key'`],
    statements: [`update vaults set wallet_key = 'another'`, 'update vaults set wallet_key = null'],
    message: 'is pinned',
  },
  webhook_secret_sealed: sealed('vaults', 'wallet_webhook_secret'),
}

async function listRefusing(): Promise<string[]> {
  const rows: { name: string }[] = await bench.sql(`
    select t.tgname as name from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and p.prosrc ~* 'raise exception' and t.tgname not like '%\\_governed' order by 1`)
  return rows.map(({ name }) => name)
}

/** The message with which the statement fails, or null if it passes. Only this trigger checks the row. */
async function refusalOf(trigger: string, statement: string, guard: 'kept' | 'dropped'): Promise<string | null> {
  const { table, before = [] } = refusedByTrigger[trigger]!
  return bench.rolledBack(async (query) => {
    const constraints = await query(
      `select conname from pg_constraint where conrelid = $1::regclass and contype in ('c', 'f', 'p')`,
      [table],
    )
    for (const { conname } of constraints) await query(`alter table ${table} drop constraint ${conname} cascade`)
    const columns = await query(
      `select quote_ident(attname) as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and attnotnull
       and not attisdropped and attidentity = ''`,
      [table],
    )
    for (const { name } of columns) await query(`alter table ${table} alter column ${name} drop not null`)
    await query(`alter table ${table} disable trigger user`)
    for (const text of before) await query(text)
    if (guard === 'dropped') await query(`drop trigger ${trigger} on ${table}`)
    else await query(`alter table ${table} enable trigger ${trigger}`)
    return query(statement).then(
      () => null,
      (error: Error) => error.message,
    )
  })
}

it('T8 T57 T60 T61 triggers that refuse are those that are listed here', async () => {
  expect(await listRefusing()).toEqual(Object.keys(refusedByTrigger))
})

it.each(Object.entries(refusedByTrigger))(
  'T8 T57 T60 T61 %s refuses what passes when it is dropped',
  async (trigger, { statements, message }) => {
    for (const statement of statements) {
      expect(await refusalOf(trigger, statement, 'kept'), statement).toContain(message)
      expect(await refusalOf(trigger, statement, 'dropped'), statement).toBeNull()
    }
  },
)
