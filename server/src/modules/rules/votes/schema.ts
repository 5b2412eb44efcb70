import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Profile, Ref, Timestamp } from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
import { Sha256, SignedVote } from '../signatures/schema.ts'

/** The fields of an approver in every list of approvers. */
export const approverFields = {
  id: Id,
  userId: Id,
  decision: described(Nullable(Enum(['approve', 'reject'])), 'The vote; null before the vote.'),
  comment: described(
    Nullable(Type.String({ examples: ['Checked against the invoice'] })),
    'Remark that the approver gave with the vote; null without a remark.',
  ),
  votedAt: described(Nullable(Timestamp), 'Instant of the vote, in UTC; null before the vote.'),
  createdAt: Timestamp,
  counts: Type.Boolean({
    description: 'True if the approver has a vote that counts or, after the resolution, a vote that counted.',
    examples: [true],
  }),
  voidReason: Nullable(
    Type.Unsafe<'not_entitled'>(
      Type.String({
        enum: ['not_entitled'],
        description:
          'Reason why a vote does not count: the voter was disabled or is no longer a member of the group that made them ' +
          'an approver.',
        examples: ['not_entitled'],
      }),
    ),
  ),
  canVote: Type.Boolean({ description: 'True if this approver can vote now.', examples: [false] }),
  user: Ref(Profile),
}

export const Approver = Closed(approverFields)

/** The fields of a requirement about the votes that groups must give. */
export const groupVoteFields = {
  votesMissing: Type.Integer({
    minimum: 0,
    description: 'Minimum number of further approvals, including approvals that groups must give.',
    examples: [1],
  }),
  groups: Type.Array(
    Closed({
      groupId: described(Id, 'Identifier of the policy group.'),
      threshold: described(
        Type.Integer({ minimum: 1, examples: [2] }),
        'Number of votes that members of the group must give.',
      ),
      approvalsCount: described(
        Type.Integer({ minimum: 0, examples: [1] }),
        'Number of these votes that members gave. A vote of a member of several groups is shown in each of them, and ' +
          'counts for one.',
      ),
    }),
    { description: 'The votes that groups must give; empty if any approver may give them.' },
  ),
}

export const QuorumReachable = Type.Boolean({
  description: 'false if too few people can still vote. Cancel the request, or restore the approvers.',
  examples: [true],
})

/** The hash to which votes are bound, in hexadecimal digits. */
export const PayloadHash = Sha256

/** The vote as it was signed; `approve` needs it in a protected vault. */
export const Signature = Type.Optional(Ref(SignedVote))

/** A cancellation. If it is signed, the wallet service ends earlier votes too. */
export const CancelBody = Closed({ signature: Signature })

export const VoteBody = Closed({
  signature: Signature,
  payloadHash: Type.Optional(
    described(
      PayloadHash,
      'The `payloadHash` that the voter was shown, as GET returns it or as the voter computed it. The vote is refused if ' +
        'the hash differs.',
    ),
  ),
  comment: Type.Optional(
    described(
      Type.String({ maxLength: noteLengthMax, examples: ['Checked against the invoice'] }),
      'Remark for the initiator and the other approvers.',
    ),
  ),
})
