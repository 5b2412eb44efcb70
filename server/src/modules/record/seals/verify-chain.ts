import type { Trx } from '../../../db/client.ts'
import { auditVerifyPageSealsMax } from '../../../lib/limits.ts'
import { isSignedByKey, keyIdOf, signedText } from '../../../lib/seal-key.ts'
import { listSealsAfter, type SealRow } from './queries.ts'
import { genesisHash, hashSeal, rootOfLeaves, type SealedLeaf, type SealLog } from './seal-content.ts'

export type SealFault = {
  kind: 'changed' | 'missing' | 'inserted'
  /** The record or entry; null when the fault is in the seal itself. */
  recordId: string | null
  /** Null when no seal holds the record yet. */
  sealSequence: number | null
  detail: string
}

export type ChainReport = {
  /** Id of the vault, or `platform`. */
  chain: string
  sealedRecords: number
  /** The number of records of the last seconds that no seal holds yet. They are checked only against their own hash and MAC. */
  unsealedRecords: number
  seals: number
  /** The ids of the keys that signed the seals. */
  keys: string[]
  /** The hash of the last seal. A copy elsewhere reveals a rewritten seal chain, which has a different hash. */
  head: { sequence: number; hash: string } | null
  /** The first fault of the seal chain; records after it were not checked. */
  fault: SealFault | null
  /** The ids of audit records that no seal holds and that the service did not write; a bounded number. */
  forged: string[]
}

/** The ids of the keys that may have signed. Null accepts any key, so that a signature must only match the key that it names. */
export type TrustedKeys = ReadonlySet<string> | null

/** Compares the content of a seal with the stored rows. Returns the fault, or null. */
export type JudgeSealed = (seal: SealRow) => SealFault | null | Promise<SealFault | null>

type ChainSource = {
  log: SealLog
  chain: string
  trusted: TrustedKeys
  /** Reads the content of some seals at once. */
  open(trx: Trx, seals: [SealRow, ...SealRow[]]): Promise<JudgeSealed>
}

export function newReport(chain: string): ChainReport {
  return { chain, sealedRecords: 0, unsealedRecords: 0, seals: 0, keys: [], head: null, fault: null, forged: [] }
}

type Previous = { sequence: string; hash: Buffer; format: number }

/** Verifies the seals of a seal chain and their content one after the other, and counts both in the report. */
export async function verifySeals(trx: Trx, report: ChainReport, source: ChainSource): Promise<SealFault | null> {
  const { log, chain, trusted } = source
  let previous: Previous = { sequence: '0', hash: genesisHash, format: 0 }
  for (;;) {
    const page = { sequence: previous.sequence, limit: auditVerifyPageSealsMax }
    const [first, ...others] = await listSealsAfter(trx, log, chain, page)
    if (first === undefined) return null
    const judge = await source.open(trx, [first, ...others])
    for (const seal of [first, ...others]) {
      const fault = faultOfSeal(log, seal, { previous, trusted }) ?? (await judge(seal))
      if (fault !== null) return fault
      report.seals += 1
      report.sealedRecords += seal.record_ids.length
      report.head = { sequence: Number(seal.sequence), hash: seal.hash.toString('hex') }
      noteKey(report, seal)
      previous = seal
    }
  }
}

function noteKey(report: ChainReport, { public_key }: SealRow): void {
  const keyId = public_key === null ? null : keyIdOf(public_key)
  if (keyId !== null && !report.keys.includes(keyId)) report.keys.push(keyId)
}

type Context = { previous: Previous; trusted: TrustedKeys }

function faultOfSeal(log: SealLog, seal: SealRow, { previous, trusted }: Context): SealFault | null {
  const expected = BigInt(previous.sequence) + 1n
  if (BigInt(seal.sequence) !== expected) {
    return { kind: 'missing', recordId: null, sealSequence: Number(expected), detail: `seal ${expected} is missing` }
  }
  const detail = !seal.previous_hash.equals(previous.hash)
    ? 'it does not continue the seal before it'
    : (faultOfContent(log, seal, previous) ?? faultOfSignature(seal, trusted))
  if (detail === null) return null
  const { sequence } = seal
  return { kind: 'changed', recordId: null, sealSequence: Number(sequence), detail: `seal ${sequence}: ${detail}` }
}

function faultOfContent(log: SealLog, seal: SealRow, previous: Previous): string | null {
  const { chain, format, public_key: publicKey, hash } = seal
  const leaves = leavesOf(seal)
  const common = {
    chain,
    sequence: BigInt(seal.sequence),
    previousHash: seal.previous_hash,
    sealedAt: seal.sealed_at,
    leaves,
  }
  if (format === 1) {
    if (log !== 'audit' || previous.format > 1) return 'it is not signed, which only the oldest audit seals may be'
    return hashSeal({ ...common, format }).equals(hash) ? null : 'its content does not have its hash'
  }
  if (format !== 2 || publicKey === null) return `it has the format ${format}, which this version does not know`
  if (seal.root?.equals(rootOfLeaves(leaves)) !== true) return 'its root does not match its content'
  return hashSeal({ ...common, format, log, publicKey }).equals(hash) ? null : 'its content does not have its hash'
}

function faultOfSignature({ public_key: publicKey, signature, hash }: SealRow, trusted: TrustedKeys): string | null {
  if (publicKey === null || signature === null) return null
  if (!isSignedByKey(publicKey, signedText('seal', hash), signature)) return 'its signature does not hold'
  const keyId = keyIdOf(publicKey)
  return trusted === null || trusted.has(keyId)
    ? null
    : `it is signed by the key ${keyId}, which is not one of the node’s`
}

export function leavesOf(seal: SealRow): SealedLeaf[] {
  return seal.record_ids.map((id, index) => ({ id, hash: seal.record_hashes[index] ?? Buffer.alloc(0) }))
}
