import { hashOfSeal, isSealSigned, noHash, type Seal, sha256 } from '../../lib/hashes.ts'

export type ChainSeal = Seal & { chain: string }
export type LogRecord = {
  id: string
  actorId: string | null
  action: string
  targetType: string
  targetId: string | null
  createdAt: string
  content: string
  hash: string
  sealSequence: number | null
}

/** A failed check: the record or seal, and the reason. */
export type Fault =
  | { kind: 'seal_hash' | 'seal_signature' | 'seal_link' | 'seal_number'; sequence: number }
  | {
      kind: 'record_hash' | 'record_fields' | 'record_not_sealed' | 'record_missing'
      id: string
      sequence: number | null
    }

/** Checks a record by itself: its hash is that of its content, and the shown fields are those of the hashed content. */
export async function faultOfRecord(record: LogRecord): Promise<Fault | null> {
  const { id, sealSequence: sequence, content, hash } = record
  if ((await sha256(content)) !== hash) return { kind: 'record_hash', id, sequence }
  const hashed = parsed(content)
  const shown = ['id', 'actorId', 'action', 'targetType', 'targetId', 'createdAt'] as const
  return shown.every((name) => hashed[name] === record[name]) ? null : { kind: 'record_fields', id, sequence }
}

function parsed(content: string): Record<string, unknown> {
  try {
    return JSON.parse(content) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Checks a seal by itself: its hash binds the previous seal and its records, and its key signs the hash. */
export async function faultOfSeal(seal: ChainSeal): Promise<Fault | null> {
  const { sequence } = seal
  if ((await hashOfSeal(seal.chain, seal)) !== seal.hash) return { kind: 'seal_hash', sequence }
  return (await isSealSigned(seal)) === false ? { kind: 'seal_signature', sequence } : null
}

/** Checks that a seal follows the older seal directly. */
export function faultOfLink(newer: ChainSeal, older: ChainSeal): Fault | null {
  if (older.sequence !== newer.sequence - 1) return { kind: 'seal_number', sequence: newer.sequence - 1 }
  if (newer.previousHash !== older.hash) return { kind: 'seal_link', sequence: newer.sequence }
  const isSigned = ({ root = null }: ChainSeal) => root !== null
  return isSigned(older) && !isSigned(newer) ? { kind: 'seal_signature', sequence: newer.sequence } : null
}

/** Checks that the oldest seal of a log is the first of its chain. */
function faultOfFirst(seal: ChainSeal): Fault | null {
  if (seal.sequence !== 1) return { kind: 'seal_number', sequence: seal.sequence - 1 }
  return seal.previousHash === noHash ? null : { kind: 'seal_link', sequence: 1 }
}

export type Progress = {
  seals: number
  records: number
  newestSeal: ChainSeal | null
  waiting: number
  faults: Fault[]
}

/**
 * Reads and recomputes a whole log, newest first.
 * @param report receives the progress, after each seal and each hundred records
 */
export async function verifyLog(
  seals: AsyncIterable<ChainSeal>,
  records: AsyncIterable<LogRecord>,
  report: (progress: Progress) => void,
): Promise<Progress> {
  const progress: Progress = { seals: 0, records: 0, newestSeal: null, waiting: 0, faults: [] }
  const note = (fault: Fault | null) => {
    if (fault !== null) progress.faults.push(fault)
  }
  const held = new Map<string, { hash: string; sequence: number }>()
  let newer: ChainSeal | null = null
  for await (const seal of seals) {
    note(await faultOfSeal(seal))
    if (newer !== null) note(faultOfLink(newer, seal))
    for (const { id, hash } of seal.records) held.set(id, { hash, sequence: seal.sequence })
    progress.newestSeal ??= seal
    progress.seals += 1
    newer = seal
    report({ ...progress })
  }
  if (newer !== null) note(faultOfFirst(newer))
  const head = progress.newestSeal?.sequence ?? 0
  for await (const record of records) {
    note(await faultOfRecord(record))
    const { id, hash, sealSequence } = record
    // A record that was sealed after the seals were read is not checked now, and counts as waiting.
    if (sealSequence === null || sealSequence > head) progress.waiting += 1
    else {
      const seal = held.get(id)
      const isHeld = seal?.hash === hash && seal.sequence === sealSequence
      if (!isHeld) note({ kind: 'record_not_sealed', id, sequence: sealSequence })
      held.delete(id)
    }
    progress.records += 1
    if (progress.records % 100 === 0) report({ ...progress })
  }
  for (const [id, { sequence }] of held) note({ kind: 'record_missing', id, sequence })
  report({ ...progress })
  return progress
}

/** Checks the records of a page against the seals that they name. */
export async function verifyPage(
  records: readonly LogRecord[],
  sealOf: (sequence: number) => Promise<ChainSeal | null>,
): Promise<Progress> {
  const numbers = [...new Set(records.map(({ sealSequence }) => sealSequence))].filter((number) => number !== null)
  const seals = new Map<number, ChainSeal | null>()
  for (const number of numbers) seals.set(number, await sealOf(number))
  const faults: (Fault | null)[] = []
  for (const [sequence, seal] of seals)
    faults.push(seal === null ? { kind: 'seal_number', sequence } : await faultOfSeal(seal))
  for (const [sequence, seal] of seals) {
    const older = seals.get(sequence - 1)
    if (seal !== null && older !== undefined && older !== null) faults.push(faultOfLink(seal, older))
  }
  for (const record of records) {
    faults.push(await faultOfRecord(record))
    if (record.sealSequence === null) continue
    const seal = seals.get(record.sealSequence)
    const isHeld = seal?.records.some(({ id, hash }) => id === record.id && hash === record.hash)
    if (isHeld !== true) faults.push({ kind: 'record_not_sealed', id: record.id, sequence: record.sealSequence })
  }
  const newest = Math.max(0, ...numbers)
  return {
    seals: seals.size,
    records: records.length,
    newestSeal: seals.get(newest) ?? null,
    waiting: records.filter(({ sealSequence }) => sealSequence === null).length,
    faults: faults.filter((fault) => fault !== null),
  }
}
