import pg from 'pg'
import { vi } from 'vitest'

/** Runs the work, and returns the text of each reading statement that it sent to the database. */
export async function statementsOf(work: () => Promise<unknown>): Promise<Set<string>> {
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    const texts = sent.mock.calls.map(([query]: unknown[]) =>
      typeof query === 'string' ? query : ((query as { text?: string }).text ?? ''),
    )
    return new Set(texts.filter((text) => /^\s*(\/\*.*?\*\/)?\s*(select|with)\b/.test(text)))
  } finally {
    sent.mockRestore()
  }
}

/**
 * The columns that these statements read, as `table.column`. PostgreSQL derives them: it notes the columns on which the body of an SQL
 * function depends.
 */
export async function columnsReadBy(databaseUrl: string, statements: Iterable<string>): Promise<Set<string>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('create schema observed_statements')
    for (const [i, text] of [...statements].entries()) {
      await client.query(`prepare "statement ${i}" as ${text}`)
      const { rows } = await client.query<{ types: string }>(
        'select array_to_string(parameter_types::text[], $1) as types from pg_prepared_statements where name = $2',
        [', ', `statement ${i}`],
      )
      const head = `create function observed_statements."${i}"(${rows[0]!.types}) returns void`
      await client.query(`${head} begin atomic ${text}; end`)
    }
    const { rows } = await client.query<{ name: string }>(`
      select distinct c.relname || '.' || a.attname as name from pg_depend d
      join pg_proc p on d.classid = 'pg_proc'::regclass and p.oid = d.objid and p.pronamespace = 'observed_statements'::regnamespace
      join pg_class c on d.refclassid = 'pg_class'::regclass and c.oid = d.refobjid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid and a.attnum > 0`)
    return new Set(rows.map(({ name }) => name))
  } finally {
    await client.query('drop schema if exists observed_statements cascade')
    await client.end()
  }
}

/** The writes to these columns since the last call of `take`. */
export type ChangeLog = { take(): Promise<Set<string>>; drop(): Promise<void> }

/**
 * Lets the database note which columns of these tables each statement writes; a new or deleted row writes all of its
 * columns. Rows of other vaults do not count, nor do those that `ignored`, conditions on the row `r` by table, apply
 * to.
 */
export async function logChanges(
  databaseUrl: string,
  tables: Iterable<string>,
  { vaultId, ignored }: { vaultId: string; ignored: Record<string, string> },
): Promise<ChangeLog> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`
    create schema observed_changes;
    create table observed_changes.log (name text not null);
    create function observed_changes.note() returns trigger language plpgsql security definer as $$
    declare r jsonb = to_jsonb(coalesce(new, old));
    begin
      if r ->> 'vault_id' <> '${vaultId}' ${Object.entries(ignored)
        .map(([table, condition]) => `or tg_table_name = '${table}' and ${condition}`)
        .join(' ')} then return null; end if;
      insert into observed_changes.log select tg_table_name || '.' || e.key from jsonb_each(r) e
        where tg_op <> 'UPDATE' or e.value is distinct from to_jsonb(old) -> e.key;
      return null;
    end $$`)
  for (const table of tables)
    await client.query(`create trigger observed_changes after insert or update or delete on "${table}"
      for each row execute function observed_changes.note()`)
  return {
    async take() {
      const { rows } = await client.query<{ name: string }>('delete from observed_changes.log returning name')
      return new Set(rows.map(({ name }) => name))
    },
    async drop() {
      await client.end()
    },
  }
}
