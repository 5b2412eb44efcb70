import { randomBytes } from 'node:crypto'

/** Runs a statement as the owner of the database. */
// biome-ignore lint/suspicious/noExplicitAny: what a query returns is for the caller to know.
type Query = (text: string, values?: unknown[]) => Promise<any[]>

/** The write-ahead log that one database has caused. It depends on no clock and on no other database of the server. */
type WrittenLog = {
  bytes: number
  /** Updates by table, and how many of them changed no index. */
  updates: Record<string, { all: number; heapOnly: number }>
}

/** Starts to count. The returned function ends the count. A replication slot keeps the log from being removed until then. */
export async function countLog(query: Query): Promise<() => Promise<WrittenLog>> {
  await query('create extension if not exists pg_walinspect')
  const place = async (): Promise<string> => (await query('select pg_current_wal_insert_lsn()::text as place'))[0].place
  const slot = `written_log_${randomBytes(8).toString('hex')}`
  await query('select pg_create_physical_replication_slot($1, true)', [slot])
  const from = await place()
  return async () => {
    try {
      return await read(from, await place())
    } finally {
      await query('select pg_drop_replication_slot($1)', [slot])
    }
  }

  async function read(from: string, to: string): Promise<WrittenLog> {
    // The functions read only the part of the log that is on disk.
    await query('select pg_switch_wal()')
    const rows: { bytes: string; table: string | null; all: number; heap_only: number }[] = await query(
      `with records as materialized (
         select distinct start_lsn, record_length, relfilenode, resource_manager, record_type
         from pg_get_wal_block_info($1, $2, false)
         where reldatabase = (select oid from pg_database where datname = current_database())
       )
       select (select sum(record_length) from (select distinct start_lsn, record_length from records) r) as bytes,
         c.oid::regclass::text as table, count(distinct start_lsn)::int as all,
         (count(distinct start_lsn) filter (where record_type = 'HOT_UPDATE'))::int as heap_only
       from records join pg_class c on c.relkind = 'r' and pg_relation_filenode(c.oid) = records.relfilenode
       where resource_manager = 'Heap' and record_type in ('UPDATE', 'UPDATE+INIT', 'HOT_UPDATE') group by c.oid`,
      [from, to],
    )
    const updates = rows.map(({ table, all, heap_only: heapOnly }) => [table!, { all, heapOnly }] as const)
    return { bytes: Number(rows[0]!.bytes), updates: Object.fromEntries(updates) }
  }
}
