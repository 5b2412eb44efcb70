import type pg from 'pg'
import { acceptedLost, badField } from '../errors.ts'
import { acceptedMax } from '../limits.ts'
import type { DepositEvent } from '../protocol.ts'
import type { Accepted, AcceptedQuery, FoundTransaction } from './accepted-protocol.ts'

/** The position of an entry: its number, and the digest of all entries up to it. Number 0 is before the first entry. */
type Place = { number: string; digest: string }
type Row = Place & {
  kind: 'transfer' | 'address' | 'event' | 'transaction'
  key: string
  address: string | null
  body: string | null
  found: Omit<FoundTransaction, 'kind'> | null
}

const start: Place = { number: '0', digest: '' }

/**
 * Lists what was accepted of a client after a cursor, in the order of the commits.
 *
 * @throws 400 for a text that is not a cursor, 410 for a cursor of entries that this database does not have
 */
export async function listAccepted(
  pool: pg.Pool,
  clientId: string,
  { after, limit = String(acceptedMax) }: AcceptedQuery,
): Promise<Accepted> {
  const place = after === undefined ? start : readCursor(after)
  if (!(await isHere(pool, clientId, place))) throw acceptedLost()
  const { rows } = await pool.query<Row>({
    name: 'accepted-after',
    text: `select c.number, encode(c.digest, 'hex') as digest, c.kind, c.key, a.address, d.body, case when u is not null then
             json_build_object('network', u.network, 'txHash', u.tx_hash, 'fromAddress', u.from_address, 'nonce', u.nonce,
               'fee', u.fee::text, 'payments', u.payments) end as found
           from wallet.accepted c
           left join wallet.addresses a on c.kind = 'address' and a.client_id = c.client_id
             and a.network = split_part(c.key, ' ', 1) and a.derivation_path = split_part(c.key, ' ', 2)
           left join wallet.webhook_deliveries d on c.kind = 'event' and d.id = c.key
           left join wallet.unknown_transactions u on c.kind = 'transaction' and u.key = c.key
           where c.client_id = $1 and c.number > $2 order by c.number limit $3`,
    values: [clientId, place.number, limit],
  })
  const { count, database } = await describeAccepted(pool, clientId)
  return { entries: rows.map(toEntry), count, cursor: toCursor(rows.at(-1) ?? place), database }
}

async function isHere(pool: pg.Pool, clientId: string, { number, digest }: Place): Promise<boolean> {
  if (number === '0') return digest === ''
  const { rowCount } = await pool.query(
    "select from wallet.accepted where client_id = $1 and number = $2 and encode(digest, 'hex') = $3",
    [clientId, number, digest],
  )
  return rowCount === 1
}

async function describeAccepted(pool: pg.Pool, clientId: string): Promise<{ count: number; database: string }> {
  const { rows } = await pool.query<{ count: string; database: string }>(
    `select coalesce(max(number), 0) as count, wallet.database_mark() as database from wallet.accepted where client_id = $1`,
    [clientId],
  )
  return { count: Number(rows[0]!.count), database: rows[0]!.database }
}

function toEntry({ kind, key, address, body, found }: Row): Accepted['entries'][number] {
  if (kind === 'transaction') return { kind, ...found! }
  if (kind === 'transfer') return { kind, id: key }
  if (kind === 'address') {
    const [network, derivationPath] = key.split(' ') as [string, string]
    return { kind, network, derivationPath, address: address! }
  }
  const { kind: event, tx } = JSON.parse(body!) as DepositEvent
  const { network, asset, toAddress, txHash, index, occurrence } = tx
  // Events of releases that did not count orphaned deposits have the occurrence 0.
  const deposit = { network, asset, toAddress, txHash, index, occurrence: occurrence ?? 0 }
  return { kind, id: key, ...deposit, isOrphan: event === 'DEPOSIT_ORPHANED' }
}

const toCursor = ({ number, digest }: Place): string => Buffer.from(`${number} ${digest}`).toString('base64url')

function readCursor(cursor: string): Place {
  const parts = /^(?:(0) |([1-9][0-9]{0,17}) ([0-9a-f]{64}))$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (parts === null) throw badField('after', 'is not a cursor')
  const [, , number, digest] = parts
  return number === undefined ? start : { number, digest: digest! }
}
