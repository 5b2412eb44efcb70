import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Profile, Ref, Timestamp } from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
import { Sha256, SignedVote } from '../signatures/schema.ts'

/** The fields of an approver in every list of approvers. */
export const approverFields = {
  id: Id,
  userId: Id,
  decision: described(Nullable(Enum(['approve', 'reject'])), 'The vote; null before.'),
  comment: described(
    Nullable(Type.String({ examples: ['Checked against the invoice'] })),
    'Remark that the approver gave with the vote; null for none.',
  ),
  votedAt: described(Nullable(Timestamp), 'Instant of the vote, in UTC; null before.'),
  createdAt: Timestamp,
  counts: Type.Boolean({
    description: 'Whether there is a vote that counts; after the resolution, whether it counted.',
    examples: [true],
  }),
  voidReason: Nullable(
    Type.Unsafe<'not_entitled'>(
      Type.String({
        enum: ['not_entitled'],
        description:
          'Why a vote does not count: the voter was disabled or is no longer a member of the group that made them an approver.',
        examples: ['not_entitled'],
      }),
    ),
  ),
  canVote: Type.Boolean({ description: 'Whether this approver can still vote now.', examples: [false] }),
  user: Ref(Profile),
}

export const Approver = Closed(approverFields)

/** The fields of a requirement about the votes that groups must give. */
export const groupVoteFields = {
  votesMissing: Type.Integer({
    minimum: 0,
    description: 'How many more approvals it takes at least, those of groups included.',
    examples: [1],
  }),
  groups: Type.Array(
    Closed({
      groupId: described(Id, 'Identifier of the policy group.'),
      threshold: described(Type.Integer({ minimum: 1, examples: [2] }), 'How many of the votes its members must give.'),
      approvalsCount: described(
        Type.Integer({ minimum: 0, examples: [1] }),
        'How many of them its members gave. A vote of somebody in several groups is shown in each and counts for one.',
      ),
    }),
    { description: 'The votes that groups must give; empty if they may come from anybody who is asked.' },
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
      'The `payloadHash` of what the voter was shown, as the answer of GET has it or as they computed it themselves. ' +
        'The vote is refused when it is another one.',
    ),
  ),
  comment: Type.Optional(
    described(
      Type.String({ maxLength: noteLengthMax, examples: ['Checked against the invoice'] }),
      'Remark for the initiator and the other approvers.',
    ),
  ),
})
