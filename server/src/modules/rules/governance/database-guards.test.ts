import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAddress } from '../../../testing/fixtures.ts'
import { allowTransfers, createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'

/**
 * The triggers that refuse a change of the rules that no version publishes, against an owner of the database. Each trigger is dropped
 * for one statement: the statement must pass without it, so that no other guard hides that the trigger is missing.
 */
let bench: GovernanceBench
let pool: pg.Pool

/** An event that a trigger guards. `column` is a column that its condition names; null if it guards every row. */
type Guarded = { trigger: string; table: string; event: 'insert' | 'update' | 'delete'; column: string | null }

/** Trigger and table, with the events and columns. */
const expected = `
  categories_governed operation_categories: update approval_scope, approval_threshold, allow_initiator_approval
  category_approvers_governed category_approvers: insert, delete, update
  category_fields_gone_governed category_fields: delete required, sensitive
  category_fields_governed category_fields: update required, default_json, archived, sensitive
  category_fields_made_governed category_fields: insert required, sensitive
  category_grants_governed category_grants: insert, delete, update
  category_rights_governed operation_categories: update applies_to, view_scope, assign_scope, edit_scope, archived
  folder_names_governed address_groups: update name
  folders_governed address_group_members: insert, delete, update
  governance_governed governance: delete, update
  invitations_governed invitations: insert
  memberships_governed policy_group_memberships: insert, delete, update
  policies_governed policies: insert, delete, update
  policy_approvers_governed policy_approvers: insert, delete, update
  policy_groups_governed policy_groups: insert, delete
  service_keys_governed service_keys: insert, delete, update
  variants_governed variants: insert, delete, update
  vaults_governed vaults: update wallet_service_url
  vaults_protection_governed vaults: update protection
  withheld_tokens_governed withheld_tokens: delete`

beforeAll(async () => {
  bench = await createGovernanceBench()
  pool = new pg.Pool({ connectionString: bench.test.databaseUrl, max: 1 })
  await fill()
  expect((await bench.govern()).status).toBe(200)
})
afterAll(async () => {
  await pool?.end()
  await bench?.close()
})

const created = <Body>({ status, body }: { status: number; body: Body }): Body => {
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

/** Inserts a row into every table of the rules. */
async function fill(): Promise<void> {
  const { vault, url, member, membersId } = bench
  const { admin } = vault
  created(
    await admin.post(`/policy-groups/${vault.groups.everyone}/policies`, {
      ...allowTransfers,
      actionType: 'create_address',
    }),
  )
  const folder = created(await admin.post(`${url}/address-groups`, { name: 'Hot' }))
  const { id: addressId } = await createAddress(admin)
  created(await admin.post(`${url}/address-groups/${folder.id}/members`, { addressId }))
  const approvers = [{ kind: 'user', userId: member.userId }]
  const selectors = [{ selectorType: 'addressGroup', value: [folder.id] }]
  created(
    await admin.post(`/policy-groups/${membersId}/policies`, {
      ...{
        code: 'hot',
        name: 'Hot',
        actionType: 'transfer',
        effect: 'requireApproval',
        approvalThreshold: 1,
        approvers,
      },
      rules: [{ conditionType: 'require', selectors }],
    }),
  )
  const category = created(await admin.post(`${url}/operation-categories`, { key: 'payroll', name: 'Payroll' }))
  const categoryUrl = `${url}/operation-categories/${category.id}` as const
  created(await admin.post(`${categoryUrl}/fields`, { key: 'month', label: 'Month', type: 'text' }))
  const grants = [{ subjectType: 'user', subjectUserId: member.userId, canView: true }]
  expect((await admin.put(`${categoryUrl}/grants`, { grants })).status).toBe(200)
  expect((await admin.put(`${categoryUrl}/approvers`, { approvers })).status).toBe(200)
  created(await admin.post('/invitations', { email: 'new@example.org', groupIds: [membersId] }))
  const now = new Date()
  created(await admin.post(`${url}/service-tokens`, { name: 'Payroll', groupIds: [membersId] }))
  await bench.sql(
    `insert into service_keys (vault_id, id, user_id, name, public_key, created_by_id, created_at)
     select $1, 'key', id, 'Payroll', '\\x00', $2, $3 from users where kind = 'service'`,
    [vault.id, admin.userId, now],
  )
  await bench.sql('insert into withheld_tokens (vault_id, token_id, created_at) values ($1, $2, $3)', [
    vault.id,
    vault.tokens.usdt.id,
    now,
  ])
}

async function guardedByTriggers(): Promise<Guarded[]> {
  const rows = await bench.sql(`
    select tgname as trigger, tgrelid::regclass::text as table, pg_get_triggerdef(oid) as definition
    from pg_trigger where not tgisinternal and tgname like '%\\_governed' order by 1`)
  return (rows as { trigger: string; table: string; definition: string }[]).flatMap(
    ({ trigger, table, definition }) => {
      const [, events] = /AFTER (.+?) ON /.exec(definition)!
      const condition = /WHEN \((.*)\) EXECUTE/.exec(definition)?.[1] ?? ''
      const columns = [...new Set([...condition.matchAll(/\b(?:old|new)\.(\w+)/gi)].map(([, column]) => column!))]
      return events!.split(' OR ').flatMap((name): Guarded[] => {
        const event = name.toLowerCase() as Guarded['event']
        return (columns.length === 0 ? [null] : columns).map((column) => ({ trigger, table, event, column }))
      })
    },
  )
}

/** SQL by type: another value for a column. It may violate the constraints of the column, because they are dropped. */
const otherValues: Record<string, (column: string) => string> = {
  boolean: (column) => `not ${column}`,
  integer: (column) => `${column} + 1`,
  text: (column) => `coalesce(${column}, '') || 'x'`,
  jsonb: (column) => `case when ${column} is null then '1'::jsonb end`,
}

/** Changes the rows of a table and rolls the change back. Returns the message with which it fails, or null if it passes. */
async function refusalOf(
  { trigger, table, event, column }: Guarded,
  guard: 'kept' | 'dropped',
): Promise<string | null> {
  const client = await pool.connect()
  const query = async (text: string) => (await client.query(text)).rows
  const ofVault = `where ${table === 'vaults' ? 'id' : 'vault_id'} = '${bench.vault.id}'`
  try {
    await query('begin')
    const constraints = await query(`
      select conrelid::regclass as on, conname as name from pg_constraint
      where contype = 'c' and conrelid = '${table}'::regclass
        or contype = 'f' and '${table}'::regclass in (conrelid, confrelid)`)
    for (const { on, name } of constraints) await query(`alter table ${on} drop constraint "${name}"`)
    if (guard === 'dropped') await query(`drop trigger ${trigger} on ${table}`)
    const types = await query(`select attname, format_type(atttypid, null) as type from pg_attribute
      where attrelid = '${table}'::regclass and attname = '${column}'`)
    expect((await query(`select from ${table} ${ofVault}`)).length, `a row of ${table}`).toBeGreaterThan(0)
    await query(`alter table ${table} disable trigger user`)
    if (column !== null && event !== 'update') {
      await query(`update ${table} set required = false, sensitive = false ${ofVault}`)
      await query(`update ${table} set ${column} = true ${ofVault}`)
    }
    const [{ names }] = await query(`select string_agg(quote_ident(attname), ', ') as names from pg_attribute
      where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`)
    if (event === 'insert') {
      await query(`create temporary table kept on commit drop as select ${names} from ${table} ${ofVault}`)
      await query(`delete from ${table} ${ofVault}`)
    }
    await query(`alter table ${table} enable trigger user`)
    const value = column === null ? '' : otherValues[types[0].type]?.(column)
    // The update of governance sets the threshold to 0: a trigger that read the new threshold would let the update pass.
    const whole = table === 'governance' ? 'threshold = 0' : 'vault_id = vault_id'
    const change = column === null ? whole : `${column} = ${value}`
    const statements = {
      insert: `insert into ${table} (${names}) overriding system value select ${names} from kept`,
      update: `update ${table} set ${change} ${ofVault}`,
      delete: `delete from ${table} ${ofVault}`,
    }
    const publishNothing = async () => {
      await query(statements[event])
      await query('set constraints all immediate')
    }
    return await publishNothing().then(
      () => null,
      (error: Error) => error.message,
    )
  } finally {
    await client.query('rollback')
    client.release()
  }
}

describe('T74 T83 triggers that refuse an unpublished change of the rules', () => {
  it('T74 T83 are those that are listed here', async () => {
    const lines = new Map<string, string>()
    for (const { trigger, table, event, column } of await guardedByTriggers()) {
      const name = `${trigger} ${table}:`
      const before = lines.get(name)
      const first = column === null ? event : `${event} ${column}`
      lines.set(name, before === undefined ? `${name} ${first}` : `${before}, ${column ?? event}`)
    }
    expect([...lines.values()]).toEqual(expected.trim().split(/\n\s*/))
  })

  it('T74 T83 refuse each change, which passes when only its trigger is dropped', async () => {
    for (const guarded of await guardedByTriggers()) {
      const name = Object.values(guarded).join(' ')
      expect(String(await refusalOf(guarded, 'kept')), name).toMatch(/ outside of (its|the) governance/)
      expect(await refusalOf(guarded, 'dropped'), name).toBeNull()
    }
  })
})
