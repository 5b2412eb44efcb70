import { canonicalJson } from '../signing/canonical.ts'
import { isAtPlace, type PaidOrder, type Place } from '../signing/payout.ts'
import { sha256 } from './bytes.ts'
import { type Claim, claimsOf, leavesUnder } from './claims.ts'
import type { Evidence, Json } from './evidence.ts'
import { type History, payoutIdOf, readHistory } from './history.ts'
import { hasHash, type Proofs, readProofs } from './proofs.ts'
import { type CheckedVote, checkVotes, hashOfSigned } from './votes.ts'

/** The checks of a file, in this order. */
export const checkNames = [
  'order',
  'shown',
  'facts',
  'decision',
  'records',
  'votes',
  'quorum',
  'signatures',
  'seals',
  'sealed',
  'chain',
  'ledger',
  'entries',
] as const
export type CheckName = (typeof checkNames)[number]

/** The result of a check. `open` means that the file neither contradicts nor proves the statement. */
export interface Check {
  name: CheckName
  state: 'holds' | 'fails' | 'open'
  faults: string[]
}

/** `proven`: a record in a signed seal of the file has this value. `unproven`: the file does not prove the value. */
export type FieldState = 'proven' | 'unproven' | 'contradicted'

/** A value of the file, by its dotted path. */
export interface Field {
  path: string
  state: FieldState
}

export interface Verdict {
  checks: Check[]
  votes: CheckedVote[]
  fields: Field[]
}

export interface VerifyOptions {
  /** Fingerprints of the trusted keys, in hex. If it is empty, every key counts. */
  trusted?: readonly string[]
}

/** A file with everything that follows from it. */
interface Examined {
  file: Evidence
  proofs: Proofs
  history: History | null
  votes: CheckedVote[]
  /** Signed votes that the records name and the file lacks. */
  missing: string[]
  isFactsProven: boolean
  isDecisionProven: boolean
  /** True if the order is a row of the signed payout; null if it is not a row of a payout. */
  isPlaced: boolean | null
  claims: Map<string, Claim>
}

/**
 * Checks an evidence file by itself, as docs/audit.md describes it. A file can be forged as a whole. To exclude that,
 * compare it with the head of a seal chain that a person kept.
 */
export async function verifyEvidence(file: Evidence, { trusted = [] }: VerifyOptions = {}): Promise<Verdict> {
  const examined = await examine(file, trusted)
  const fields = fieldsOf(examined)
  const checks = await Promise.all(
    Object.entries(checkers).map(async ([name, check]): Promise<Check> => {
      const faults = await Promise.resolve()
        .then(() => check(examined, fields))
        .catch((error: unknown) => [String(error)])
      const state = faults === null ? 'open' : faults.length === 0 ? 'holds' : 'fails'
      return { name: name as CheckName, state, faults: faults ?? [] }
    }),
  )
  const { votes, missing } = examined
  // Outside of protected vaults, votes are not signed, and the file does not claim that they are.
  const isSigned = votes.length + missing.length > 0
  return { checks: checks.filter(({ name }) => name !== 'signatures' || isSigned), votes, fields }
}

async function examine(file: Evidence, trusted: readonly string[]): Promise<Examined> {
  const proofs = await readProofs(file)
  const history = readHistory(proofs.records.map(({ content }) => content))
  const { batch, payloadHash, decision, signedVotes, payload } = file
  const about = batch === undefined ? { subject: 'transfer', hash: payloadHash } : await payoutVote(batch)
  const votes = await checkVotes(signedVotes, { ...about, trusted })
  const isFactsProven = await hasHash(decision.facts, history?.order.factsHash)
  const isDecisionProven = await hasHash(decision, history?.order.decisionHash)
  const isPlaced =
    batch === undefined ? null : await isAtPlace(payload as unknown as PaidOrder, batch as unknown as Place)
  const sources = {
    facts: isFactsProven ? (decision.facts as Json) : null,
    decision: isDecisionProven ? decision : null,
    transfer: file.transfer,
  }
  const claims = history === null ? new Map<string, Claim>() : claimsOf({ history, ...sources })
  const missing = await missingVotes(file, proofs)
  return { file, proofs, history, votes, missing, isFactsProven, isDecisionProven, isPlaced, claims }
}

const payoutVote = async ({ payout }: NonNullable<Evidence['batch']>) => ({
  subject: 'payout',
  hash: await sha256(canonicalJson(payout)).catch(() => ''),
})

async function missingVotes({ signedVotes }: Evidence, { records }: Proofs): Promise<string[]> {
  const present = new Set<unknown>(await Promise.all(signedVotes.map(hashOfSigned)))
  return records.flatMap(({ content: { action, details } }) =>
    details.signedVote === undefined || present.has(details.signedVote) ? [] : [`${action}: ${details.signedVote}`],
  )
}

/** Returns null if the check is open. */
type Checker = (examined: Examined, fields: readonly Field[]) => string[] | null | Promise<string[] | null>

const checkers: Record<CheckName, Checker> = {
  order: orderFaults,
  shown: (_, fields) => contradicted(fields, 'transfer.'),
  facts: factsFaults,
  decision: decisionFaults,
  records: recordFaults,
  votes: voteFaults,
  quorum: quorumFaults,
  signatures: signatureFaults,
  seals: sealFaults,
  sealed: sealedFaults,
  chain: chainFaults,
  ledger: ledgerFaults,
  entries: entryFaults,
}

const contradicted = (fields: readonly Field[], prefix: string): string[] =>
  fields.filter(({ path, state }) => state === 'contradicted' && path.startsWith(prefix)).map(({ path }) => path)

async function orderFaults({ file: { payload, payloadHash } }: Examined): Promise<string[]> {
  const hash = await sha256(canonicalJson(payload))
  return hash === payloadHash ? [] : [`${hash} ≠ ${payloadHash}`]
}

function factsFaults({ file: { decision }, history, isFactsProven }: Examined): string[] | null {
  if (history?.order.factsHash === undefined || decision.facts === undefined) return null
  return isFactsProven ? [] : [String(history.order.factsHash)]
}

function decisionFaults({ history, isDecisionProven }: Examined): string[] | null {
  if (history?.order.decisionHash === undefined) return null
  return isDecisionProven ? [] : [String(history.order.decisionHash)]
}

function recordFaults({ file: { auditRecords }, proofs: { records } }: Examined): string[] {
  if (auditRecords.length === 0) return ['auditRecords: 0']
  return records.flatMap(({ isHashed }, index) =>
    isHashed ? [] : [String(auditRecords[index]!.content).slice(0, 120)],
  )
}

/** Checks that each vote is on this order, and that no record is about another order. */
function voteFaults({ file: { payloadHash, payload }, history, proofs }: Examined): string[] {
  if (history === null) return ['transfer.requested']
  const payout = history.order.payout as Json | undefined
  const expected = payout === undefined ? payloadHash : payout.payloadHash
  const others = history.votes
    .filter((vote) => vote.payloadHash !== expected)
    .map(({ decision, person }) => `${decision}: ${person}`)
  const strangers = proofs.records
    .map(({ content }) => content)
    .filter(({ targetId }) => targetId !== payload.transferId && targetId !== payoutIdOf(history.order))
    .map(({ action, id }) => `${action} ${id}`)
  const order = history.order.payloadHash === payloadHash ? [] : [`transfer.requested ${history.requested.id}`]
  return [...order, ...others, ...strangers]
}

/** Checks that each policy got enough votes of its approvers. Open until the transfer went on. */
function quorumFaults({ file: { transfer }, history }: Examined): string[] | null {
  if (history === null) return ['transfer.requested']
  const { requirements, votes } = history
  const wentOn = transfer.status === 'pending' || transfer.status === 'confirmed'
  if (!wentOn && requirements.length > 0) return null
  const approvers = new Set(votes.filter(({ decision }) => decision === 'approve').map(({ person }) => person))
  return requirements.flatMap(({ policyCode, threshold, bypassed, voters }) => {
    const approvals = voters.filter((voter) => approvers.has(voter)).length
    return bypassed || approvals >= threshold ? [] : [`${policyCode}: ${approvals} < ${threshold}`]
  })
}

/**
 * Checks the signed votes. Open if this platform does not know the algorithm of a key. The rows of a payout are signed
 * together.
 */
function signatureFaults({ votes, missing, isPlaced }: Examined, fields: readonly Field[]): string[] | null {
  const wrong = votes.filter(({ state }) => state === 'fails').map(({ person, decision }) => `${decision}: ${person}`)
  // Every value of a vote that fails is contradicted. In a vote that holds, only the time may be contradicted.
  const others = wrong.length > 0 ? [] : contradicted(fields, 'signedVotes.')
  const faults = [...wrong, ...others, ...missing, ...(isPlaced === false ? ['batch'] : [])]
  return faults.length === 0 && votes.some(({ state }) => state === 'open') ? null : faults
}

function sealFaults({ file, proofs: { auditSeals, ledgerSeals } }: Examined): string[] | null {
  const seals = [...auditSeals, ...ledgerSeals]
  if (seals.length === 0) return null
  const faults = [
    ...file.seals.flatMap(({ sequence }, index) => (auditSeals[index]!.isSound ? [] : [`#${sequence}`])),
    ...file.ledgerSeals.flatMap(({ sequence }, index) => (ledgerSeals[index]!.isSound ? [] : [`ledger #${sequence}`])),
  ]
  return faults.length === 0 && seals.some(({ isSigned }) => isSigned !== true) ? null : faults
}

/**
 * Checks that each record is in the seal that it names. Open for records of the last seconds, which no seal holds yet.
 */
function sealedFaults({ file: { auditRecords }, proofs: { records } }: Examined): string[] | null {
  const faults = records.flatMap(({ content, isHashed, seal }, index) =>
    isHashed && seal === 'fails' ? [`${content.action} → #${auditRecords[index]!.sealSequence}`] : [],
  )
  return faults.length === 0 && records.some(({ seal }) => seal === 'open') ? null : faults
}

/** Checks that the hashes link neighbouring seals. Open if the file has no neighbouring seals. */
function chainFaults({ file: { seals } }: Examined): string[] | null {
  const bySequence = new Map(seals.map((seal) => [seal.sequence, seal]))
  const pairs = seals.flatMap((seal) => {
    const before = bySequence.get(seal.sequence - 1)
    return before === undefined ? [] : [{ seal, before }]
  })
  if (pairs.length === 0) return null
  return pairs.filter(({ seal, before }) => seal.previousHash !== before.hash).map(({ seal }) => `#${seal.sequence}`)
}

const lastEntry: Record<string, string> = {
  confirmed: 'settle',
  failed: 'release',
  rejected: 'release',
  cancelled: 'release',
}

/** Checks that the books reserved and paid the amount of the order. */
function ledgerFaults({ file: { ledgerEntries, payload, transfer } }: Examined): string[] {
  const entriesOf = (kind: string) =>
    ledgerEntries.filter((entry) => entry.kind === kind && entry.tokenId === payload.tokenId)
  const moved = [...entriesOf('reserve'), ...entriesOf('settle'), ...entriesOf('release')]
  const wrong = moved.filter(({ amount }) => amount !== payload.amount).map(({ kind, amount }) => `${kind} ${amount}`)
  const last = lastEntry[String(transfer.status)]
  const expected = ['reserve', ...(last === undefined ? [] : [last])]
  return [...wrong, ...expected.filter((kind) => entriesOf(kind).length !== 1)]
}

/** Checks that each entry is in its seal, and belongs to this transfer. Open for entries of the last seconds. */
function entryFaults({ file, proofs: { entries } }: Examined, fields: readonly Field[]): string[] | null {
  const faults = entries.flatMap(({ content, seal }, index) => {
    const operation = content?.operation as Json | null | undefined
    const isOurs = content === null || operation?.id === file.payload.transferId
    return seal === 'fails' || !isOurs
      ? [`${file.ledgerEntries[index]!.kind} ${file.ledgerEntries[index]!.sequence}`]
      : []
  })
  const allFaults = [...faults, ...contradicted(fields, 'ledgerEntries.')]
  return allFaults.length === 0 && entries.some(({ seal }) => seal !== 'proven') ? null : allFaults
}

/** Returns every value of the file with its state, except the version of the format. */
function fieldsOf(examined: Examined): Field[] {
  const { schemaVersion: _, ...rest } = examined.file as unknown as Json
  return Object.entries(leavesUnder('', rest)).map(([path, value]) => ({ path, state: stateOf(examined, path, value) }))
}

function stateOf(examined: Examined, path: string, value: unknown): FieldState {
  const [part, index = '', ...names] = path.split('.')
  const state = stateReaders[part ?? '']
  // An empty list proves nothing, because its members may have been left out.
  const isEmptyList = Array.isArray(value) && index === ''
  return state === undefined || isEmptyList
    ? 'unproven'
    : state(examined, { index, name: names.join('.'), path, value })
}

type Leaf = { index: string; name: string; path: string; value: unknown }
const provenIf = (isProven: boolean): FieldState => (isProven ? 'proven' : 'unproven')

/** Returns true if all records are in signed seals. Only then do they prove the order and its end. */
const isRecordSealed = ({ proofs }: Examined): boolean => proofs.records.every(({ seal }) => seal === 'proven')

const stateReaders: Record<string, (examined: Examined, leaf: Leaf) => FieldState> = {
  transfer: (examined, { path, value }) => {
    const claim = examined.claims.get(path.slice('transfer.'.length))
    if (claim === undefined) return 'unproven'
    if (!isEqual(claim.value, value)) return claim.isFinal ? 'contradicted' : 'unproven'
    return provenIf(isRecordSealed(examined))
  },
  payload: (examined, { path, value }) => {
    const recorded = leavesUnder('payload', examined.history?.order.payload)
    return isEqual(recorded[path], value) ? provenIf(isRecordSealed(examined)) : 'contradicted'
  },
  payloadHash: (examined, { value }) =>
    examined.history?.order.payloadHash === value ? provenIf(isRecordSealed(examined)) : 'contradicted',
  decision: (examined, { path }) => {
    const { history, isDecisionProven, isFactsProven } = examined
    if (isDecisionProven) return provenIf(isRecordSealed(examined))
    if (history?.order.decisionHash !== undefined) return 'contradicted'
    return provenIf(isFactsProven && path.startsWith('decision.facts') && isRecordSealed(examined))
  },
  auditRecords: ({ proofs }, { index }) => {
    const seal = proofs.records[Number(index)]?.seal
    return seal === 'fails' ? 'contradicted' : provenIf(seal === 'proven')
  },
  seals: ({ proofs }, { index }) => stateOfSeal(proofs.auditSeals[Number(index)]),
  ledgerSeals: ({ proofs }, { index }) => stateOfSeal(proofs.ledgerSeals[Number(index)]),
  ledgerEntries: (examined, { index, name, value }) => stateOfEntry(examined, Number(index), name, value),
  signedVotes: (examined, { index, name, value }) => stateOfSignedVote(examined, Number(index), name, value),
  batch: ({ isPlaced, votes }) =>
    isPlaced === false ? 'contradicted' : provenIf(isPlaced === true && votes.some(({ state }) => state === 'holds')),
}

const stateOfSeal = (seal: Proofs['auditSeals'][number] | undefined): FieldState =>
  seal?.isSound === false ? 'contradicted' : provenIf(seal?.isSigned === true)

function stateOfEntry({ proofs }: Examined, index: number, name: string, value: unknown): FieldState {
  const { content, seal } = proofs.entries[index]!
  if (seal === 'fails') return 'contradicted'
  if (['content', 'hash', 'sealSequence'].includes(name) || name.startsWith('proof')) return provenIf(seal === 'proven')
  if (content === null) return 'unproven'
  const side = (which: string) => (content[which] as Json | null)?.balance ?? null
  const sealed: Json = { ...content, debitBalance: side('debit'), creditBalance: side('credit') }
  // The number of an account exists only in the database. The seal has the address and the purpose of the account.
  if (name === 'debitAccountId' || name === 'creditAccountId') {
    const isVault = content[name.slice(0, -'AccountId'.length)] === null
    return isVault && value !== null ? 'contradicted' : provenIf(isVault && seal === 'proven')
  }
  if (!(name in sealed)) return 'unproven'
  return isEqual(sealed[name], value) ? provenIf(seal === 'proven') : 'contradicted'
}

function stateOfSignedVote(examined: Examined, index: number, name: string, value: unknown): FieldState {
  const { votes, history, file } = examined
  const checked = votes[index]
  if (checked?.state === 'fails') return 'contradicted'
  if (name !== 'createdAt') return provenIf(checked?.state === 'holds')
  const { person, decision } = file.signedVotes[index]!.signed.vote
  const cast =
    decision === 'initiate'
      ? history?.requested.createdAt
      : history?.votes.find((vote) => vote.person === person && vote.decision === decision)?.votedAt
  return cast === undefined || cast === value ? provenIf(cast === value && isRecordSealed(examined)) : 'contradicted'
}

function isEqual(left: unknown, right: unknown): boolean {
  try {
    return canonicalJson(left) === canonicalJson(right)
  } catch {
    return false
  }
}
