import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { macsPerStatement } from '../../../lib/limits.ts'
import type { RecordKey } from '../../../lib/record-key.ts'
import { beforeAllRecords, type RecordPlace } from './queries.ts'
import { faultOfMac, type MacSubject, macOf } from './record.ts'

type Authentication = {
  /** The key whose MACs are replaced. A record with the MAC of another key stays as it is. Null selects the records without a MAC. */
  from: RecordKey | null
  to: RecordKey
}

/** Gives records MACs under a key, in pages, and returns their number. The caller must lock the records against concurrent writes. */
export async function authenticateRecords(trx: Trx, { from, to }: Authentication): Promise<number> {
  let count = 0
  let after: RecordPlace | null = beforeAllRecords
  while (after !== null) {
    const page = await listPage(trx, after)
    const due = page.filter((record) => (from === null ? record.mac === null : faultOfMac(from, record) === null))
    await writeMacs(trx, due, to)
    count += due.length
    after = page.length < macsPerStatement ? null : page.at(-1)!
  }
  return count
}

type Page = (MacSubject & { mac: Buffer | null })[]

async function listPage(trx: Trx, { chain, id }: RecordPlace): Promise<Page> {
  return trx
    .selectFrom('audit_records')
    .select(['chain', 'id', 'hash', 'mac'])
    .where(sql<boolean>`(chain, id) > (${chain}, ${id})`)
    .orderBy('chain')
    .orderBy('id')
    .limit(macsPerStatement)
    .execute()
}

async function writeMacs(trx: Trx, records: Page, key: RecordKey): Promise<void> {
  if (records.length === 0) return
  const column = (read: (record: MacSubject) => string | Buffer) => records.map(read)
  await sql`
    update audit_records r set mac = v.mac
    from unnest(${column(({ chain }) => chain)}::text[], ${column(({ id }) => id)}::text[],
      ${column((record) => macOf(key, record))}::bytea[]) as v(chain, id, mac)
    where r.chain = v.chain and r.id = v.id`.execute(trx)
}
