import { canonicalJson } from '../signing/canonical.ts'
import { sha256 } from './bytes.ts'
import type { AuditRecord, AuditSeal, Evidence, Json, LedgerEntry } from './evidence.ts'
import { type CheckedSeal, checkAuditSeal, checkLedgerSeal, rootFromProof } from './seals.ts'

/** The content of an audit record. */
export interface RecordContent {
  id: string
  action: string
  actorId: string | null
  targetId: string | null
  createdAt: string
  details: Json
}

/** A record with the results of its checks. */
export interface ProvenRecord {
  content: RecordContent
  /** True if `content` has the hash that the file gives. */
  isHashed: boolean
  /** `proven`: a signed seal of the file holds the record. `open`: no seal is named yet, or no seal is signed. */
  seal: 'proven' | 'open' | 'fails'
}

/** An entry of the ledger with the results of its checks. `content` is null if the file has none. */
export interface ProvenEntry {
  content: Json | null
  seal: 'proven' | 'open' | 'fails'
}

/** Everything that follows from the hashes, seals and proofs of a file. */
export interface Proofs {
  records: ProvenRecord[]
  entries: ProvenEntry[]
  auditSeals: CheckedSeal[]
  ledgerSeals: CheckedSeal[]
}

const broken: CheckedSeal = { isSound: false, isSigned: null }

/** Checks each seal, each record and each entry of a file. */
export async function readProofs(file: Evidence): Promise<Proofs> {
  const chain = String(file.transfer.vaultId)
  const auditSeals = await Promise.all(file.seals.map((seal) => checkAuditSeal(chain, seal).catch(() => broken)))
  const ledgerSeals = await Promise.all(
    file.ledgerSeals.map((seal) => checkLedgerSeal(chain, seal).catch(() => broken)),
  )
  return {
    records: await Promise.all(file.auditRecords.map((record) => readRecord(record, file.seals, auditSeals))),
    entries: await Promise.all(
      file.ledgerEntries.map((entry) =>
        readEntry(entry, file, ledgerSeals).catch((): ProvenEntry => ({ content: null, seal: 'fails' })),
      ),
    ),
    auditSeals,
    ledgerSeals,
  }
}

async function readRecord(record: AuditRecord, seals: AuditSeal[], checked: CheckedSeal[]): Promise<ProvenRecord> {
  const content = contentOf(record.content)
  const isHashed = (await sha256(String(record.content))) === record.hash
  return { content, isHashed, seal: isHashed ? stateOfRecord(record, content, seals, checked) : 'fails' }
}

function stateOfRecord(
  { hash, sealSequence }: AuditRecord,
  { id }: RecordContent,
  seals: AuditSeal[],
  checked: CheckedSeal[],
): ProvenRecord['seal'] {
  if (sealSequence === null) return 'open'
  const index = seals.findIndex(({ sequence }) => sequence === sealSequence)
  const isHeld = seals[index]?.records.some((held) => held.hash === hash && held.id === id) === true
  if (!isHeld || !checked[index]!.isSound) return 'fails'
  return checked[index]!.isSigned === true ? 'proven' : 'open'
}

async function readEntry(entry: LedgerEntry, file: Evidence, checked: CheckedSeal[]): Promise<ProvenEntry> {
  const { content, hash, sealSequence, sequence } = entry
  if (content === undefined) return { content: null, seal: 'open' }
  const read = JSON.parse(content) as Json
  if ((await sha256(content)) !== hash || read.sequence !== sequence) return { content: read, seal: 'fails' }
  if (sealSequence === null || sealSequence === undefined) return { content: read, seal: 'open' }
  const index = file.ledgerSeals.findIndex((seal) => seal.sequence === sealSequence)
  const seal = file.ledgerSeals[index]
  if (seal === undefined || !checked[index]!.isSound) return { content: read, seal: 'fails' }
  if ((await rootFromProof(entry, seal.size)) !== seal.root) return { content: read, seal: 'fails' }
  return { content: read, seal: checked[index]!.isSigned === true ? 'proven' : 'open' }
}

/** Reads the content of a record. The file may come from a stranger, so each part may be missing. */
function contentOf(text: string): RecordContent {
  let content: Partial<RecordContent> = {}
  try {
    const read = JSON.parse(text) as Partial<RecordContent> | null
    if (typeof read === 'object' && read !== null) content = read
  } catch {
    // The content stays empty, and its hash fails.
  }
  const { id = '', action = '', actorId = null, targetId = null, createdAt = '', details } = content
  return {
    id,
    action,
    actorId,
    targetId,
    createdAt,
    details: typeof details === 'object' && details !== null ? details : {},
  }
}

/** Returns true if the value has the hash, and false for a value without a canonical form. */
export async function hasHash(value: unknown, hash: unknown): Promise<boolean> {
  try {
    return (await sha256(canonicalJson(value))) === hash
  } catch {
    return false
  }
}
