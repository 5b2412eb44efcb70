/** Reads an evidence file of a transfer (docs/audit.md, contract 10.13). */

export type Json = Record<string, unknown>

/** A record of the audit log. `content` is canonical JSON, and `hash` its SHA-256 in hex. */
export interface AuditRecord {
  content: string
  hash: string
  /** Number of the seal that holds it; null in its first seconds. */
  sealSequence: number | null
}

/** The data that the hash of a seal covers, and its signature. Hashes, keys and signatures are in hex. */
export interface SealHead {
  sequence: number
  previousHash: string
  sealedAt: string
  hash: string
  /** Null or absent if the seal is older than signed seals. */
  root?: string | null
  keyId?: string | null
  publicKey?: string | null
  signature?: string | null
}

/** A seal of the audit log with all its records. */
export interface AuditSeal extends SealHead {
  records: { id: string; hash: string }[]
}

/** A seal of the ledger. Each of its entries has a separate proof. */
export interface LedgerSeal extends SealHead {
  /** Number of its entries. */
  size: number
}

/** An entry of the ledger. `content` and the following fields are absent in files of version 1. */
export interface LedgerEntry {
  sequence: string
  kind: string
  tokenId: string
  amount: string
  debitBalance: string | null
  creditBalance: string | null
  createdAt: string
  content?: string
  hash?: string
  sealSequence?: number | null
  proof?: { index: number; path: string[] } | null
}

/** A signed vote, with the key that it was checked with. Bytes are in base64url. */
export interface SignedVoteEvidence {
  signed: {
    vote: { subject: string; hash: string; decision: string; person: string }
    keyId: string
    signature: string
    authenticatorData?: string
    clientDataJSON?: string
  }
  publicKey: string
  rpId: string | null
  origin: string | null
  createdAt: string
}

/** The parts that a check reads. The file may come from a stranger, so every other member may hold any value. */
export interface Evidence {
  schemaVersion: string
  transfer: Json
  payload: Json
  payloadHash: string
  decision: Json
  auditRecords: AuditRecord[]
  seals: AuditSeal[]
  ledgerEntries: LedgerEntry[]
  ledgerSeals: LedgerSeal[]
  signedVotes: SignedVoteEvidence[]
  /** For a signed row of a payout: the payout, and the place of the row in it. */
  batch?: { payout: Json; position: number; path: { hash: string; amount: string }[] }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads an evidence file. Returns null for a text that is not an evidence file, or that has an unknown version. */
export function readEvidence(text: string): Evidence | null {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(file)) return null
  const evidence = { decision: {}, ledgerSeals: [], signedVotes: [], ...file } as Json
  const lists = ['auditRecords', 'seals', 'ledgerEntries', 'ledgerSeals', 'signedVotes']
  // Version 1 had no seals of the ledger. A file of version 1 with such seals is not valid.
  const isKnown = file.schemaVersion === (file.ledgerSeals === undefined ? '1' : '2')
  const hasLists = lists.every((name) => Array.isArray(evidence[name]) && (evidence[name] as unknown[]).every(isObject))
  const hasObjects = isObject(evidence.transfer) && isObject(evidence.payload) && isObject(evidence.decision)
  return isKnown && hasLists && hasObjects && typeof evidence.payloadHash === 'string'
    ? (evidence as unknown as Evidence)
    : null
}
