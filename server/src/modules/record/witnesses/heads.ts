import type { Db, Trx } from '../../../db/client.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { isSignedByKey, keyIdOf, type SealKey, signedText } from '../../../lib/seal-key.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { findLastSeal, findSealHashes, type Head, listHeads } from '../seals/queries.ts'
import { type SealLog, sealLogs } from '../seals/seal-content.ts'
import type { TrustedKeys } from '../seals/verify-chain.ts'
import { listAcceptances, listAuthorityMarks, type WitnessedAuthority } from './queries.ts'

/** The heads of all seal chains at one moment, as a witness keeps them. */
export type HeadsStatement = {
  type: typeof statementType
  version: 1
  origin: string
  at: string
  heads: Head[]
  /** The highest version of each vault's authority that the service has seen. Statements of earlier releases do not have it. */
  authorities?: WitnessedAuthority[]
  keyId: string
  publicKey: string
  /** The signature over the SHA-256 of the canonical JSON of the other properties. */
  signature: string
}

const statementType = 'strongroom.heads'

export async function stateHeads(
  db: Db,
  { sealKey, origin, now }: { sealKey: SealKey; origin: string; now: Date },
): Promise<HeadsStatement> {
  const { heads, authorities } = await readSnapshot(db, async (trx) => ({
    heads: [...(await listHeads(trx, 'audit')), ...(await listHeads(trx, 'ledger'))],
    authorities: await listAuthorityMarks(trx),
  }))
  const statement = {
    type: statementType as typeof statementType,
    version: 1 as const,
    origin,
    at: now.toISOString(),
    heads,
    authorities,
    keyId: sealKey.keyId,
    publicKey: sealKey.publicKey.toString('hex'),
  }
  return { ...statement, signature: sealKey.sign(textOf(statement)).toString('hex') }
}

const textOf = (statement: Omit<HeadsStatement, 'signature'>): string =>
  signedText('heads', sha256(canonicalJson(statement)))

const [armorBegin, armorEnd] = ['-----BEGIN STRONGROOM HEADS-----', '-----END STRONGROOM HEADS-----']

/** Returns a statement in short lines of letters and digits, which mail programs and people do not alter. */
export function armor(statement: HeadsStatement): string {
  const lines =
    Buffer.from(JSON.stringify(statement))
      .toString('base64url')
      .match(/.{1,64}/g) ?? []
  return [armorBegin, ...lines, armorEnd].join('\n')
}

/**
 * Returns a head as the commands print it. `audit verify` has always printed the heads of its seal chains without a name of the
 * log.
 */
export const headLine = ({ log, chain, sequence, hash }: Head): string =>
  `${log === 'audit' ? '' : `${log} `}${chain}: seal ${sequence} ${hash}`

const headLinePattern = /^(?:(audit|ledger) )?(\S+): (?:.*, )?seal (\d{1,15}) ([0-9a-f]{64})$/

/**
 * Reads the heads that a witness keeps: lines of JSON, one JSON document, mails with a block of `armor`, or the output
 * of the commands. Other text, such as the words of a mail, is skipped.
 *
 * @throws Error when there is neither a head nor a statement, or a statement is not signed by a trusted key
 */
export function readHeads(text: string, log: SealLog, trusted: TrustedKeys): Head[] {
  const parts = partsOf(text)
  const statements = parts.map(parseStatement)
  const heads = parts.flatMap((part, i) => {
    const statement = statements[i] ?? null
    return statement === null ? readLine(part) : checkStatement(statement, trusted).heads
  })
  const ofLog = heads.filter((head) => head.log === log)
  // A statement from before the log began has no head of it, and is still valid.
  const isSigned = statements.some((statement) => statement !== null)
  if (ofLog.length === 0 && !isSigned) throw new Error(`There is no head of the ${log} log in it`)
  return ofLog
}

/** Splits a text into a document, the blocks of mails, or lines. */
function partsOf(text: string): string[] {
  if (parseStatement(text) !== null) return [text]
  const blocks = [...text.matchAll(new RegExp(`${armorBegin}([\\s\\S]*?)${armorEnd}`, 'g'))].map(([, block = '']) =>
    Buffer.from(block.replace(/[^\w-]/g, ''), 'base64url').toString('utf8'),
  )
  return blocks.length > 0 ? blocks : text.split('\n')
}

/** Returns the authorities that a witness keeps, with the moment of each line. @throws as `readHeads` */
export function readAuthorities(text: string, trusted: TrustedKeys): (WitnessedAuthority & { at: string })[] {
  return partsOf(text).flatMap((part) => {
    const statement = parseStatement(part)
    if (statement === null) return []
    const { authorities = [], at } = checkStatement(statement, trusted)
    return authorities.map((authority) => ({ ...authority, at }))
  })
}

function readLine(line: string): Head[] {
  const [, named, chain, sequence, hash] = headLinePattern.exec(line.trim()) ?? []
  if (chain === undefined || sequence === undefined || hash === undefined) return []
  return [{ log: (named ?? 'audit') as SealLog, chain, sequence: Number(sequence), hash }]
}

function parseStatement(text: string): HeadsStatement | null {
  try {
    const value = JSON.parse(text) as HeadsStatement | null
    return value?.type === statementType ? value : null
  } catch {
    return null
  }
}

function checkStatement(statement: HeadsStatement, trusted: TrustedKeys): HeadsStatement {
  const { signature, ...signed } = statement
  const key = Buffer.from(String(signed.publicKey), 'hex')
  const fault = (what: string) => new Error(`The heads of ${String(signed.at)} ${what}`)
  const { authorities = [] } = signed
  const hasHeads = Array.isArray(signed.heads) && signed.heads.every(isHead)
  const isWhole = signed.version === 1 && hasHeads && Array.isArray(authorities) && authorities.every(isAuthority)
  if (!isWhole) throw fault('are not of a form that this version knows')
  if (keyIdOf(key) !== signed.keyId || !isSignedByKey(key, textOf(signed), Buffer.from(String(signature), 'hex'))) {
    throw fault('are not signed: they were changed')
  }
  if (trusted !== null && !trusted.has(signed.keyId)) {
    throw fault(`are signed by the key ${signed.keyId}, which is not one of the node’s`)
  }
  return statement
}

function isHead(value: unknown): boolean {
  const { log, chain, sequence, hash } = (value ?? {}) as Partial<Head>
  return (
    sealLogs.includes(log as SealLog) &&
    typeof chain === 'string' &&
    Number.isSafeInteger(sequence) &&
    /^[0-9a-f]{64}$/.test(String(hash))
  )
}

function isAuthority(value: unknown): boolean {
  const { vaultId, version, hash } = (value ?? {}) as Partial<WitnessedAuthority>
  return typeof vaultId === 'string' && Number.isSafeInteger(version) && /^[0-9a-f]{64}$/.test(String(hash))
}

export type HeadFault = { chain: string; sequence: number; detail: string }

/** Compares the seal chains of a log with heads that were kept elsewhere. Returns the first missing head of each seal chain. */
export async function compareHeads(trx: Db | Trx, log: SealLog, heads: Head[]): Promise<HeadFault[]> {
  const faults: HeadFault[] = []
  const byChain = new Map<string, Map<string, Head>>()
  for (const head of heads) {
    const known = byChain.get(head.chain) ?? new Map<string, Head>()
    byChain.set(head.chain, known.set(`${head.sequence} ${head.hash}`, head))
  }
  for (const [chain, known] of byChain) {
    const kept = [...known.values()].sort((a, b) => a.sequence - b.sequence)
    const stored = await findSealHashes(trx, log, chain, [...new Set(kept.map(({ sequence }) => sequence))])
    const lost = kept.find(({ sequence, hash }) => stored.get(sequence) !== hash)
    if (lost === undefined) continue
    const { sequence, hash } = lost
    const present = stored.get(sequence)
    const end = (await findLastSeal(trx, log, chain))?.sequence ?? '0'
    const detail =
      present === undefined
        ? `the witness keeps seal ${sequence} ${hash}, and the chain ends at ${end}: it was cut short`
        : `the witness keeps seal ${sequence} ${hash}, and that seal is ${present} now: the chain was recomputed`
    faults.push({ chain, sequence, detail })
  }
  return faults
}

/**
 * Compares the authorities that a witness keeps with the highest that the service remembers. An authority that an
 * operator has accepted since, on the record, is not a fault.
 */
export async function compareAuthorities(
  db: Db | Trx,
  kept: (WitnessedAuthority & { at: string })[],
): Promise<HeadFault[]> {
  const marks = new Map((await listAuthorityMarks(db)).map((mark) => [mark.vaultId, mark]))
  const acceptedAt = new Map((await listAcceptances(db)).map(({ vaultId, at }) => [vaultId, at]))
  const faults = new Map<string, HeadFault>()
  for (const { at, ...witnessed } of kept) {
    const { vaultId } = witnessed
    const isAccepted = Date.parse(at) <= (acceptedAt.get(vaultId)?.getTime() ?? Number.NEGATIVE_INFINITY)
    const fault = isAccepted ? null : faultOf(witnessed, marks.get(vaultId))
    if (fault !== null && !faults.has(vaultId)) faults.set(vaultId, fault)
  }
  return [...faults.values()]
}

function faultOf(
  { vaultId, version, hash }: WitnessedAuthority,
  mark: WitnessedAuthority | undefined,
): HeadFault | null {
  const isKept = mark !== undefined && (mark.version > version || (mark.version === version && mark.hash === hash))
  if (isKept) return null
  const present = mark === undefined ? 'none' : `version ${mark.version} ${mark.hash}`
  const detail = `the witness keeps version ${version} ${hash} of the authority, and the service remembers ${present}: it went back`
  return { chain: vaultId, sequence: version, detail }
}
