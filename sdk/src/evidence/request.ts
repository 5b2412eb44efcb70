import { canonicalJson } from '../signing/canonical.ts'
import { isUnbound } from '../signing/unbound.ts'
import { sha256 } from './bytes.ts'
import type { Json, SignedVoteEvidence } from './evidence.ts'
import { type CheckedVote, checkVotes } from './votes.ts'

/** An approval request as the API answers it, with its signed votes. */
export interface RequestFile {
  boundPayload: Json
  payloadHash: string
  signedVotes: SignedVoteEvidence[]
}

/** Reads an approval request. Returns null for a text that is not an approval request. */
export function readRequest(text: string): RequestFile | null {
  try {
    const file = JSON.parse(text) as Partial<RequestFile> | null
    if (typeof file?.boundPayload !== 'object' || typeof file.payloadHash !== 'string') return null
    const { boundPayload, payloadHash, signedVotes = [] } = file
    return Array.isArray(signedVotes) ? { boundPayload, payloadHash, signedVotes } : null
  } catch {
    return null
  }
}

export interface RequestVerdict {
  isHashed: boolean
  /**
   * False for a change of the rules of an early version of the service: no signature covers the differences that voters
   * saw.
   */
  bindsDifferences: boolean
  votes: CheckedVote[]
}

/** Compares the hash of the voted document with `payloadHash`, and checks each signed vote with the key beside it. */
export async function verifyRequest(
  { boundPayload, payloadHash, signedVotes }: RequestFile,
  { trusted = [] }: { trusted?: readonly string[] } = {},
): Promise<RequestVerdict> {
  const hash = await sha256(canonicalJson(boundPayload)).catch(() => null)
  const votes = await checkVotes(signedVotes, { subject: 'approval_request', hash: payloadHash, trusted })
  const bindsDifferences = !isUnbound(boundPayload)
  return {
    isHashed: hash === payloadHash,
    bindsDifferences,
    votes: bindsDifferences ? votes : votes.map(withoutProof),
  }
}

/** Marks an approval as not proven where the approved content is unknown. A veto stops the request in any case. */
function withoutProof(vote: CheckedVote): CheckedVote {
  return vote.state === 'holds' && vote.decision !== 'reject' ? { ...vote, state: 'open' } : vote
}
