import { canonicalJson } from '../../lib/canonical-json.ts'
import { sha256 } from '../../lib/secrets.ts'

/** What comes before the first seal of a chain. */
export const genesisHash = Buffer.alloc(32)

export type SealContent = {
  chain: string
  sequence: bigint
  previousHash: Buffer
  records: { id: string; hash: Buffer }[]
  sealedAt: Date
}

/** The hash of a seal binds the seal before it and every record of its own batch. */
export function hashSeal({ chain, sequence, previousHash, records, sealedAt }: SealContent): Buffer {
  return sha256(
    canonicalJson({
      chain,
      sequence: Number(sequence),
      previousHash: previousHash.toString('hex'),
      records: records.map(({ id, hash }) => ({ id, hash: hash.toString('hex') })),
      sealedAt,
    }),
  )
}

type RecordColumns = {
  chain: string
  id: string
  actor_id: string | null
  action: string
  target_type: string
  target_id: string | null
  created_at: Date
  content: string
  hash: Buffer
}

/** What is wrong with a record by itself: its hash, or a column that says something else than the content. Null: nothing. */
export function faultOfRecord(record: RecordColumns): string | null {
  if (!sha256(record.content).equals(record.hash)) return 'its content does not have its hash'
  const content = parseContent(record.content)
  if (content === null) return 'its content is not in canonical form'
  const columns: Record<string, unknown> = {
    id: record.id,
    chain: record.chain,
    actorId: record.actor_id,
    action: record.action,
    targetType: record.target_type,
    targetId: record.target_id,
    createdAt: record.created_at.toISOString(),
  }
  const differing = Object.keys(columns).find((name) => content[name] !== columns[name])
  return differing === undefined ? null : `its column ${differing} differs from its content`
}

function parseContent(text: string): Record<string, unknown> | null {
  try {
    const content = JSON.parse(text) as Record<string, unknown>
    return canonicalJson(content) === text ? content : null
  } catch {
    return null
  }
}
