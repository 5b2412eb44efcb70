import {
  type ChainedSeal,
  type CheckedVote,
  checkChainedSeal,
  type Field,
  type FieldState,
  readEvidence,
  readRequest,
  type VoteFault,
  verifyEvidence,
  verifyRequest,
} from '@strongroom/sdk/evidence'

/** Lines for people. `isSound` is true if no check of the file failed. */
type EvidenceReport = { lines: string[]; isSound: boolean }

/**
 * Checks a file without a service: the evidence of a transfer, or an approval request as GET returns it. Returns null for another file.
 *
 * @param trusted fingerprints of the keys that people compared; empty to accept every key
 */
export async function reportOnFile(text: string, trusted: readonly string[]): Promise<EvidenceReport | null> {
  const evidence = readEvidence(text)
  if (evidence !== null) {
    const { checks, votes, fields } = await verifyEvidence(evidence, { trusted })
    const lines = [
      ...checks.map(({ name, state, faults }) => lineOf(state, [name, ...faults])),
      ...signatureLines(votes),
      ...fieldLines(fields),
    ]
    return { lines, isSound: checks.every(({ state }) => state !== 'fails') }
  }
  const request = readRequest(text)
  if (request === null) return null
  const { isHashed, bindsDifferences, votes } = await verifyRequest(request, { trusted })
  const hash = lineOf(isHashed ? 'holds' : 'fails', [
    'payloadHash',
    ...(isHashed ? [] : ['it is not the hash of what was voted on']),
  ])
  const unbound = bindsDifferences ? [] : [lineOf('open', [unboundText])]
  return {
    lines: [hash, ...unbound, ...signatureLines(votes)],
    isSound: isHashed && votes.every(({ state }) => state !== 'fails'),
  }
}

/** A seal that a file of evidence names. */
type NamedSeal = { log: 'audit' | 'ledger'; sequence: number; hash: string }

/** The parts of a file of evidence that an archive depends on. A fault is a check that fails, with its details. */
type CheckedEvidence = { transferId: string; faults: string[]; seals: NamedSeal[] }

/** Checks the evidence of a transfer by itself. Returns null for another file. */
export async function checkEvidence(text: string): Promise<CheckedEvidence | null> {
  const evidence = readEvidence(text)
  if (evidence === null) return null
  const { checks } = await verifyEvidence(evidence)
  const failing = checks.filter(({ state }) => state === 'fails')
  const named = (log: NamedSeal['log']) => (seal: Omit<NamedSeal, 'log'>) => ({
    log,
    sequence: seal.sequence,
    hash: seal.hash,
  })
  return {
    transferId: String(evidence.payload.transferId),
    faults: failing.map(({ name, faults }) => [name, ...faults].join('; ')),
    seals: [...evidence.seals.map(named('audit')), ...evidence.ledgerSeals.map(named('ledger'))],
  }
}

/** A seal of an archive, and what follows from it. `isUnsigned` is true for a seal from before seals were signed. */
export type ReadSeal = {
  sequence: number
  previousHash: string
  hash: string
  keyId: string | null
  isUnsigned: boolean
}

/** Checks a line of the seals of an archive. Returns null for a line that is no seal, or a seal that does not hold. */
export async function checkSealLine(chain: string, log: NamedSeal['log'], line: string): Promise<ReadSeal | null> {
  try {
    const seal = JSON.parse(line) as ChainedSeal
    const { isSound } = await checkChainedSeal(chain, log, seal)
    const { sequence, previousHash, hash, keyId = null } = seal
    return isSound ? { sequence, previousHash, hash, keyId, isUnsigned: keyId === null } : null
  } catch {
    return null
  }
}

const marks = { holds: 'ok  ', fails: 'FAIL', open: 'open' }

const lineOf = (state: keyof typeof marks, parts: string[]): string => `${marks[state]} ${parts.join('; ')}`

const unboundText =
  'differencesHash; the request is of an earlier version of the service, and does not prove which differences its voters saw'

const faultTexts: Record<VoteFault, string> = {
  invalid: 'the signature is not valid',
  'other-hash': 'it is for another hash',
  'other-subject': 'it is for something else',
  'other-key': 'its key is not one of those named',
}

function signatureLines(votes: readonly CheckedVote[]): string[] {
  if (votes.length === 0)
    return ['none of the votes is signed: the records say who voted, and no key of a person proves it']
  return votes.map(({ person, decision, fingerprint, origin, state, faults }) => {
    const place = origin === null ? '' : ` at ${origin}`
    const text = `${decision} by ${person} with the key ${fingerprint}${place}`
    return lineOf(state, [text, ...faults.map((fault) => faultTexts[fault])])
  })
}

/** Returns lines with counts, and with the paths of values that the file does not prove or contradicts. */
function fieldLines(fields: readonly Field[]): string[] {
  const pathsOf = (state: FieldState) => fields.filter((field) => field.state === state).map(({ path }) => path)
  const [proven, unproven, contradicted] = [pathsOf('proven'), pathsOf('unproven'), pathsOf('contradicted')]
  return [
    `${proven.length} values proven, ${unproven.length} not proven by this file, ${contradicted.length} contradicted`,
    ...unproven.map((path) => `not proven: ${path}`),
    ...contradicted.map((path) => `contradicted: ${path}`),
  ]
}
