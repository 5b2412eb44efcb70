import type { GovernanceBench } from '../../server/src/testing/governance-bench.ts'

export type Snapshot = { restore(): Promise<void> }

/** Keeps every row as it is now, so that each sequence begins with the same world. */
export async function createSnapshot({ sql }: GovernanceBench): Promise<Snapshot> {
  const rows = await sql(`
    select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind in ('r', 'p') and not c.relispartition group by c.relname`)
  const tables = rows.map(({ name, columns }) => ({ name: `"${name}"`, columns: String(columns) }))
  await sql('create schema kept')
  for (const { name, columns } of tables)
    await sql(`create table kept.${name} as select ${columns} from public.${name}`)
  const inserts = tables.map(
    ({ name, columns }) =>
      `insert into public.${name} (${columns}) overriding system value select ${columns} from kept.${name};`,
  )
  return {
    async restore() {
      await sql(`begin; set local session_replication_role = replica;
        truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}; ${inserts.join(' ')} commit;`)
    },
  }
}
