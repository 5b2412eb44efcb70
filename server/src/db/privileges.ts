import { readFile } from 'node:fs/promises'
import { type Kysely, sql } from 'kysely'

const file = new URL('./roles.sql', import.meta.url)
const role = sql.lit('strongroom_app')

/** Gives the role of the service exactly the privileges of roles.sql. Several nodes may start at the same time. */
export async function grantPrivileges(db: Kysely<unknown>, lockTimeout: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  await db.transaction().execute(async (trx) => {
    await takeTurn(trx)
    await sql.raw(lockTimeout).execute(trx)
    await sql.raw(text).execute(trx)
  })
}

/**
 * Gives the role of the service its privileges on tables that a migration has created, in the transaction of that migration. A
 * trigger may write to such a table as soon as the migration is committed, for nodes of the previous version too.
 */
export async function grantOnNewTables(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select c.relname as name, array(select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped) as columns
    from pg_class c join pg_roles r on r.rolname = ${role}
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname not like 'schema\\_migrations%'
      and not has_table_privilege(r.oid, c.oid, 'select')`.execute(db)
  if (rows.length === 0) return
  const expected = readExpected(await readFile(file, 'utf8'))
  await takeTurn(db)
  for (const { name, columns } of rows) {
    const table = sql.table(name)
    await sql`grant ${sql.raw(wantedOf(name, expected).join(', '))} on ${table} to strongroom_app`.execute(db)
    // A later migration may add some of the columns that roles.sql names.
    for (const column of (expected.columns.get(name) ?? []).filter((wanted) => columns.includes(wanted)))
      await sql`grant update (${sql.ref(column)}) on ${table} to strongroom_app`.execute(db)
  }
  await sql`grant usage, select on all sequences in schema public to strongroom_app`.execute(db)
}

/** Privileges of one table must not be changed by two transactions at the same time. */
async function takeTurn(db: Kysely<unknown>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('strongroom roles', 0))`.execute(db)
}

type Actual = { name: string; privileges: string[]; columns: string[]; refuses_older: boolean }

/** Returns the differences between the privileges on the tables of the owner and roles.sql, as text; empty when there are none. */
export async function findPrivilegeFaults(db: Kysely<unknown>): Promise<string[]> {
  const expected = readExpected(await readFile(file, 'utf8'))
  const { rows } = await sql<Actual>`
    select relname as name,
      array(select p from unnest(${sql.val(tablePrivileges)}::text[]) p where has_table_privilege(${role}, c.oid, p)) as privileges,
      array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
        and has_column_privilege(${role}, c.oid, attnum, 'update')) as columns,
      exists (select from pg_trigger where tgrelid = c.oid and tgname = 'refuse_older_nodes' and tgenabled = 'O') as refuses_older
    from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and relowner = (select relowner from pg_class where oid = to_regclass('public.schema_migrations'))
    order by relname`.execute(db)
  const { rows: others } = await sql<{ fault: string }>`
    select 'usage of the schema is missing' as fault where not has_schema_privilege(${role}, 'public', 'usage')
    union all
    select 'create in the schema is too much' where has_schema_privilege(${role}, 'public', 'create')
    union all
    select 'usage of the sequence ' || relname || ' is missing' from pg_class
    where relnamespace = 'public'::regnamespace
      and case when relkind = 'S' then not has_sequence_privilege(${role}, oid, 'usage') else false end`.execute(db)
  return [...others.map(({ fault }) => fault), ...rows.flatMap((table) => faultsOf(table, expected))]
}

const tablePrivileges = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']
/** Statements that revoke privileges before other statements grant them. */
const preparing = [
  'revoke create on schema public from strongroom_app, public',
  'revoke all on all tables in schema public from strongroom_app',
]

/** The privileges of roles.sql: `all` on every table, without those that a table has `lost`; and the columns that may be updated. */
type Expected = { all: string[]; lost: Map<string, Set<string>>; columns: Map<string, string[]> }

function wantedOf(name: string, { all, lost }: Expected): string[] {
  return all.filter((privilege) => !lost.get(name)?.has(privilege))
}

function faultsOf({ name, privileges, columns, refuses_older }: Actual, expected: Expected): string[] {
  const wanted = wantedOf(name, expected)
  const wantedColumns = expected.columns.get(name) ?? []
  const isOfMigrations = name.startsWith('schema_migrations')
  return [
    ...wanted
      .filter((privilege) => !privileges.includes(privilege))
      .map((missing) => `${missing} on ${name} is missing`),
    ...privileges.filter((privilege) => !wanted.includes(privilege)).map((extra) => `${extra} on ${name} is too much`),
    ...wantedColumns
      .filter((column) => !columns.includes(column))
      .map((missing) => `update of ${name}.${missing} is missing`),
    ...(privileges.includes('update') ? [] : columns)
      .filter((column) => !wantedColumns.includes(column))
      .map((extra) => `update of ${name}.${extra} is too much`),
    ...(refuses_older || isOfMigrations ? [] : [`the trigger refuse_older_nodes on ${name} is missing`]),
  ]
}

/** @throws Error at a statement that this function does not know, so that the file grants nothing that is not checked */
function readExpected(text: string): Expected {
  const expected: Expected = { all: [], lost: new Map(), columns: new Map() }
  const list = (names: string) => names.split(',').map((name) => name.trim())
  const statements = text
    .replace(/--.*$/gm, '')
    .replace(/do \$\$.*\$\$/s, '')
    .split(';')
  for (const statement of statements.map((words) => words.trim()).filter((words) => words !== '')) {
    const [, granted] = /^grant ([\w, ]+) on all tables in schema public to strongroom_app$/.exec(statement) ?? []
    const [, lost, tables] = /^revoke ([\w, ]+) on ([\w, ]+) from strongroom_app$/.exec(statement) ?? []
    const [, columns, table] = /^grant update \(([\w, ]+)\) on (\w+) to strongroom_app$/.exec(statement) ?? []
    if (preparing.includes(statement)) continue
    if (granted !== undefined) expected.all = list(granted)
    else if (lost !== undefined) {
      for (const name of list(tables!)) {
        expected.lost.set(name, new Set([...(expected.lost.get(name) ?? []), ...list(lost)]))
      }
    } else if (columns !== undefined) expected.columns.set(table!, list(columns))
    else if (
      !/^grant usage(, select)? on (schema public|all sequences in schema public) to strongroom_app$/.test(statement)
    ) {
      throw new Error(`roles.sql has a statement that is not checked: ${statement}`)
    }
  }
  return expected
}
