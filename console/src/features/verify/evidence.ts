import type { TransferPayload, VoteEvidence } from '@strongroom/sdk'
import { isAtPlace, type Place } from '@strongroom/sdk/signing'
import { canonicalJson, hashOfSeal, isSealSigned, type Seal, sha256 } from '../../lib/hashes.ts'
import { type CheckedVote, hashOfSigned, verifyVotes } from './signatures.ts'

/** What is checked of an evidence file, in this order. */
export const checkNames = [
  'order',
  'shown',
  'facts',
  'records',
  'votes',
  'quorum',
  'signatures',
  'seals',
  'sealed',
  'chain',
  'ledger',
] as const
export type CheckName = (typeof checkNames)[number]
/** `open`: nothing contradicts it, and the file does not prove it either. */
export type Check = { name: CheckName; state: 'holds' | 'fails' | 'open'; faults: string[] }

type Json = Record<string, unknown>
type AuditRecord = { content: string; hash: string; sealSequence: number | null }
type LedgerEntry = { kind: string; tokenId: string; amount: string }
export type Evidence = {
  transfer: Json & { vaultId: string; status: string; amount: string }
  payload: Json
  payloadHash: string
  decision: Json
  auditRecords: AuditRecord[]
  seals: Seal[]
  ledgerEntries: LedgerEntry[]
  /** In a protected vault. */
  signedVotes?: VoteEvidence[]
  /** Of a row of a payout that was signed. */
  batch?: Place
}
export type Verdict = { checks: Check[]; votes: CheckedVote[] }

/** @returns null where the text is no evidence of a transfer */
export function readEvidence(text: string): Evidence | null {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return null
  }
  const { schemaVersion, transfer, payload, payloadHash, signedVotes, ...rest } = (file ?? {}) as Json
  const lists = [rest.auditRecords, rest.seals, rest.ledgerEntries, signedVotes ?? []].every(Array.isArray)
  const objects = [transfer, payload].every((each) => typeof each === 'object' && each !== null)
  return schemaVersion === '1' && lists && objects && typeof payloadHash === 'string' ? (file as Evidence) : null
}

/** Checks a file by itself, as docs/audit.md describes it: nobody is asked, and no key is needed. */
export async function verifyEvidence(evidence: Evidence): Promise<Verdict> {
  const contents = evidence.auditRecords.map(({ content }) => contentOf(content))
  const { signedVotes = [], payloadHash, batch } = evidence
  const votes =
    batch === undefined
      ? await verifyVotes(signedVotes, payloadHash)
      : await verifyVotes(signedVotes, await sha256(canonicalJson(batch.payout)), 'payout')
  const missing = await missingVotes(signedVotes, contents)
  // Outside of protected vaults nothing is signed, and nothing claims to be.
  const names = checkNames.filter((name) => name !== 'signatures' || votes.length + missing.length > 0)
  const work: Record<CheckName, string[] | null | Promise<string[] | null>> = {
    order: orderFaults(evidence),
    shown: shownFaults(evidence),
    facts: factsFaults(evidence, contents),
    records: recordFaults(evidence),
    votes: voteFaults(evidence, contents),
    quorum: quorumFaults(evidence, contents),
    signatures: signatureFaults(evidence, votes, missing),
    seals: sealFaults(evidence),
    sealed: sealedFaults(evidence, contents),
    chain: chainFaults(evidence),
    ledger: ledgerFaults(evidence),
  }
  const found = await Promise.all(
    names.map(
      async (name) => [name, await Promise.resolve(work[name]).catch((error: unknown) => [String(error)])] as const,
    ),
  )
  const checks = found.map(([name, faults]): Check => {
    return {
      name,
      state: faults === null ? 'open' : faults.length === 0 ? 'holds' : 'fails',
      faults: faults ?? [],
    }
  })
  return { checks, votes }
}

type Content = { id?: string; action?: string; actorId?: string | null; targetId?: string | null; details?: Json }

function contentOf(text: string): Content {
  try {
    return JSON.parse(text) as Content
  } catch {
    return {}
  }
}

async function orderFaults({ payload, payloadHash }: Evidence): Promise<string[]> {
  const hash = await sha256(canonicalJson(payload))
  return hash === payloadHash ? [] : [`${hash} ≠ ${payloadHash}`]
}

/** What a person reads of the transfer is what was voted on; the amount in token units is that of the facts. */
async function shownFaults({ transfer, payload, payloadHash, decision }: Evidence): Promise<string[]> {
  const facts = (decision?.facts ?? {}) as Json
  const from = (transfer.fromAddress ?? {}) as Json
  const pairs: [string, unknown, unknown][] = [
    ['id', transfer.id, payload.transferId],
    ['vaultId', transfer.vaultId, payload.vaultId],
    ['amount', transfer.amount, payload.amount],
    ['amountDecimal', transfer.amountDecimal, facts.amount ?? transfer.amountDecimal],
    ['tokenId', transfer.tokenId, payload.tokenId],
    ['network', transfer.network, payload.network],
    ['contractAddress', transfer.contractAddress, payload.contractAddress],
    ['toAddress', transfer.toAddress, payload.toAddress],
    ['fromAddress', from.address, payload.fromAddress],
    ['initiatorId', transfer.initiatorId, payload.initiatorId],
    ['payloadHash', transfer.payloadHash, payloadHash],
  ]
  return pairs
    .filter(([, shown, voted]) => shown !== voted)
    .map(([name, shown, voted]) => `${name}: ${shown} ≠ ${voted}`)
}

/** The facts that the policies decided on are those whose hash is on record. */
async function factsFaults({ decision }: Evidence, contents: Content[]): Promise<string[] | null> {
  const recorded = requested(contents)?.details?.factsHash
  if (recorded === undefined || decision?.facts === undefined) return null
  const hash = await sha256(canonicalJson(decision.facts))
  return hash === recorded ? [] : [`${hash} ≠ ${recorded}`]
}

async function recordFaults({ auditRecords }: Evidence): Promise<string[]> {
  if (auditRecords.length === 0) return ['auditRecords: 0']
  const hashes = await Promise.all(auditRecords.map(({ content }) => sha256(content)))
  return auditRecords.flatMap(({ hash, content }, index) => (hash === hashes[index] ? [] : [content.slice(0, 120)]))
}

function requested(contents: Content[], noun = 'transfer.requested'): Content | undefined {
  return contents.find(({ action }) => action === noun)
}

/** The payout whose votes are those on the transfer; undefined for a transfer by itself. */
function payoutOf(contents: Content[]): { id?: unknown; payloadHash?: unknown } | undefined {
  return requested(contents)?.details?.payout as object | undefined
}

function votesOf(contents: Content[]): Content[] {
  const actions =
    payoutOf(contents) === undefined ? ['transfer.approved', 'transfer.rejected'] : ['payout.requested', 'payout.voted']
  return contents.filter(({ action }) => actions.includes(action ?? ''))
}

/** The order and every vote name the hash of this order, and belong to this transfer. */
async function voteFaults({ payload, payloadHash }: Evidence, contents: Content[]): Promise<string[]> {
  const order = requested(contents)
  if (order === undefined) return ['transfer.requested']
  const payout = payoutOf(contents)
  const votes = votesOf(contents).filter(
    ({ details }) => details?.payloadHash !== (payout === undefined ? payloadHash : payout.payloadHash),
  )
  const bound = order.details?.payloadHash === payloadHash ? votes : [order, ...votes]
  const strangers = contents.filter(({ targetId }) => targetId !== payload.transferId && targetId !== payout?.id)
  const orders = contents.filter(({ action }) => action === 'transfer.requested').slice(1)
  return [...bound, ...strangers, ...orders].map(({ action, id }) => `${action} ${id}`)
}

type Requirement = { policyCode: string; threshold: number; bypassed: boolean; voters: string[] }

/** Each policy that asked for votes got enough of them, from those who may vote. Open until the transfer went on. */
async function quorumFaults({ transfer }: Evidence, contents: Content[]): Promise<string[] | null> {
  const isRow = payoutOf(contents) !== undefined
  const details = requested(contents, isRow ? 'payout.requested' : undefined)?.details
  if (details === undefined) return ['transfer.requested']
  const requirements = (details.requirements ?? []) as Requirement[]
  const wentOn = transfer.status === 'pending' || transfer.status === 'confirmed'
  if (!wentOn && requirements.length > 0) return null
  const approvers = new Set(
    contents
      .filter(({ action, details: vote }) => (isRow ? vote?.decision === 'approve' : action === 'transfer.approved'))
      .map(({ actorId }) => actorId),
  )
  return requirements.flatMap(({ policyCode, threshold, bypassed, voters }) => {
    const given = voters.filter((voter) => approvers.has(voter)).length
    return bypassed || given >= threshold ? [] : [`${policyCode}: ${given} < ${threshold}`]
  })
}

/** The audit trail names the hash of each signed vote: one that is not in the file was left out of it. */
async function missingVotes(signedVotes: VoteEvidence[], contents: Content[]): Promise<string[]> {
  const present = new Set(await Promise.all(signedVotes.map(hashOfSigned)))
  return contents.flatMap(({ action, details }) => {
    const named = details?.signedVote
    return named === undefined || present.has(String(named)) ? [] : [`${action}: ${named}`]
  })
}

/** Open where this browser does not know the algorithm of a key. People sign the rows of a payout as one. */
async function signatureFaults(
  { payload, batch }: Evidence,
  votes: CheckedVote[],
  missing: string[],
): Promise<string[] | null> {
  const wrong = votes.filter(({ state }) => state === 'fails').map(({ person, decision }) => `${decision}: ${person}`)
  const isSigned = batch === undefined || (await isAtPlace(payload as unknown as TransferPayload, batch))
  const faults = [...wrong, ...missing, ...(isSigned ? [] : ['batch'])]
  return faults.length === 0 && votes.some(({ state }) => state === 'open') ? null : faults
}

async function sealFaults({ seals, transfer }: Evidence): Promise<string[] | null> {
  if (seals.length === 0) return null
  const faults = seals.map(async (seal) => {
    const isSound = seal.hash === (await hashOfSeal(transfer.vaultId, seal)) && (await isSealSigned(seal)) !== false
    return isSound ? [] : [`#${seal.sequence}`]
  })
  return (await Promise.all(faults)).flat()
}

/** Each record is in the seal that it names. Open for records of the last seconds, which no seal holds yet. */
async function sealedFaults({ auditRecords, seals }: Evidence, contents: Content[]): Promise<string[] | null> {
  const faults = auditRecords.flatMap(({ hash, sealSequence }, index) => {
    if (sealSequence === null) return []
    const seal = seals.find(({ sequence }) => sequence === sealSequence)
    const isHeld = seal?.records.some((held) => held.hash === hash && held.id === contents[index]?.id)
    return isHeld === true ? [] : [`${contents[index]?.action} → #${sealSequence}`]
  })
  const isWaiting = auditRecords.some(({ sealSequence }) => sealSequence === null)
  return faults.length === 0 && isWaiting ? null : faults
}

/** Seals that follow each other do so by their hashes. Open where the file has no two neighbours. */
async function chainFaults({ seals }: Evidence): Promise<string[] | null> {
  const bySequence = new Map(seals.map((seal) => [seal.sequence, seal]))
  const pairs = seals.flatMap((seal) => {
    const before = bySequence.get(seal.sequence - 1)
    return before === undefined ? [] : [{ seal, before }]
  })
  if (pairs.length === 0) return null
  return pairs.filter(({ seal, before }) => seal.previousHash !== before.hash).map(({ seal }) => `#${seal.sequence}`)
}

/** What the books reserved and paid is the amount of the order. */
async function ledgerFaults({ ledgerEntries, payload, transfer }: Evidence): Promise<string[]> {
  const kinds = (kind: string) =>
    ledgerEntries.filter((entry) => entry.kind === kind && entry.tokenId === payload.tokenId)
  const moved = [...kinds('reserve'), ...kinds('settle'), ...kinds('release')]
  const wrong = moved.filter(({ amount }) => amount !== payload.amount).map(({ kind, amount }) => `${kind} ${amount}`)
  const expected: Record<string, string> = {
    confirmed: 'settle',
    failed: 'release',
    rejected: 'release',
    cancelled: 'release',
  }
  const last = expected[transfer.status]
  const missing = [
    ...(kinds('reserve').length === 1 ? [] : ['reserve']),
    ...(last === undefined || kinds(last).length === 1 ? [] : [last]),
  ]
  return [...wrong, ...missing]
}
