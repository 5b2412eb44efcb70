import { findMember } from '../../../access/authenticate.ts'
import type { Caller, Member } from '../../../access/caller.ts'
import { assertMember, callerHeld, readsOnly } from '../../../access/refusals.ts'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { toAppError } from '../../../http/error-handler.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { AppError, toErrorBody, unavailable } from '../../../lib/errors.ts'
import { bulkVoteMilliseconds } from '../../../lib/limits.ts'
import { prefetching } from '../../rules/approval-requests/steps.ts'
import { votableRequests } from '../../rules/approval-requests/vote-on-request.ts'
import type { KeyElsewhere } from '../../rules/signatures/take.ts'
import { toBallot, voteOn } from '../../rules/votes/ballot.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { findKeyElsewhere } from '../../vaults/authority/authority.ts'
import { voteOnPayout } from '../payouts/payout-votes.ts'
import { voteOnTransfer } from '../transfers/transfer-votes.ts'
import { findStatus } from './queries.ts'
import type { BulkVote, BulkVoteResult } from './schema.ts'

type Voting = { deps: Deps; executors: Executors; caller: Caller; requestId: string }

/**
 * Casts the votes one after the other, each in its own transaction and under all the rules of a single vote. A failure of one
 * vote does not affect the others. Votes that were not begun in time are refused, so that the caller gets an answer.
 */
export async function voteOnMany(voting: Voting, votes: BulkVote[]): Promise<BulkVoteResult[]> {
  const endsAt = performance.now() + bulkVoteMilliseconds
  const results: BulkVoteResult[] = []
  for (const vote of votes) {
    const { vaultCode, kind, id, decision } = vote
    const cast = performance.now() < endsAt ? await castOne(voting, vote) : tooLate()
    const isRefused = cast instanceof AppError
    const outcome = isRefused
      ? { status: null, error: toErrorBody(cast, voting.requestId) }
      : { status: cast, error: null }
    results.push({ vaultCode, kind, id, decision, ...outcome })
  }
  return results
}

const tooLate = () => unavailable('overloaded', 'The other votes took too long; send this one again', 1)

/** The status after a vote, or the reason of its refusal. */
type Cast = NonNullable<BulkVoteResult['status']> | AppError

async function castOne(voting: Voting, vote: BulkVote): Promise<Cast> {
  const { deps, caller } = voting
  try {
    // Membership is read for each vote, because an earlier vote may have changed it.
    const member = assertMember(await findMember(deps.db, caller, vote.vaultCode))
    if (member.isHeld) throw callerHeld()
    if (member.isAuditor) throw readsOnly()
    const keyElsewhere = await findKeyElsewhere(
      deps,
      member,
      vote.kind === 'approval_request' ? undefined : vote.signature,
    )
    return await prefetching((fetched) =>
      inTransaction(deps.db, async (trx): Promise<Cast> => {
        const voted = await castIn(trx, voting, vote, { member, keyElsewhere, fetched })
        // The refusal is committed with its records.
        return 'refusal' in voted ? voted.refusal : findStatus(trx, member, vote)
      }),
    )
  } catch (thrown) {
    const error = toAppError(thrown)
    if (!(thrown instanceof AppError))
      deps.log.error({ err: thrown, requestId: voting.requestId }, 'a vote of several failed')
    return error
  }
}

/** The answers of other services, which are asked before the transaction begins. */
type Fetched = { member: Member; keyElsewhere: KeyElsewhere; fetched: unknown[] | null }

function castIn(
  trx: Trx,
  { deps, executors }: Voting,
  { kind, id, decision, comment, payloadHash, signature }: BulkVote,
  { member, keyElsewhere, fetched }: Fetched,
): Promise<object | Refusal> {
  const input = {
    payloadHash,
    ...(comment === undefined ? {} : { comment }),
    ...(signature === undefined ? {} : { signature }),
  }
  const ballot = toBallot(input, deps, { member, id, now: deps.clock(), keyElsewhere })
  if (kind === 'transfer') return voteOnTransfer(trx, deps.log, decision, ballot)
  if (kind === 'payout') return voteOnPayout(trx, deps.log, decision, ballot)
  return voteOn(trx, votableRequests(deps.log, { executors, fetched }), decision, ballot)
}
