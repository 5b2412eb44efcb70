import { type Static, Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  type ErrorSchema,
  Id,
  MemberProfile,
  Nullable,
  optional,
  pageQuery,
  RawAmount,
  Ref,
  Timestamp,
  VaultCode,
} from '../../../http/schema.ts'
import { bulkVotesMax, inboxCountMax, noteLengthMax, rowsPerPayoutMax } from '../../../lib/limits.ts'
import { operationStatuses } from '../../../lib/operations.ts'
import { requestStatuses } from '../../rules/approval-requests/lifecycle.ts'
import { requestActions } from '../../rules/approval-requests/schema.ts'
import { PayloadHash, Signature } from '../../rules/votes/schema.ts'
import { payoutStatuses } from '../payouts/schema.ts'

const Text = (example: string) => Type.String({ examples: [example] })

/** The types of subjects that people vote on. */
const inboxKinds = ['transfer', 'approval_request', 'payout'] as const

const votableStatuses = [...new Set([...operationStatuses, ...requestStatuses, ...payoutStatuses])]

/** The parts of the inbox: subjects that the caller may vote on now, has voted on, or has requested. */
const inboxStates = ['waiting', 'decided', 'mine'] as const
export type InboxState = (typeof inboxStates)[number]

const InboxTransfer = Closed({
  amount: RawAmount,
  amountDecimal: DecimalAmount,
  token: described(
    Closed({
      id: Id,
      code: Text('USDT'),
      symbol: Text('₮'),
      decimals: Type.Integer({ minimum: 0, examples: [6] }),
    }),
    'The token that is paid.',
  ),
  network: Text('ethereum'),
  toAddress: Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'),
  recipientName: described(
    Nullable(Text('Northwind Trading')),
    'Name of the counterparty that is paid; null when the address book has none.',
  ),
  usdValue: described(
    Nullable(Text('1.50')),
    'Value in USD when it was ordered; null, never `0.00`, when no rate was known.',
  ),
  paymentPurpose: Nullable(Text('Invoice 4711')),
})

const InboxRequest = Closed({
  subject: Type.String({
    description: 'Short name of the target: a name, an address label or a code; otherwise an id.',
    examples: ['Northwind Trading'],
  }),
})

const InboxPayout = Closed({
  name: described(Nullable(Text('Salaries January')), 'Name of the list; null for none.'),
  rows: Type.Integer({
    minimum: 1,
    maximum: rowsPerPayoutMax,
    description: 'Number of its transfers.',
    examples: [300],
  }),
  sums: described(
    Type.Array(Closed({ tokenId: Id, code: Text('USDT'), symbol: Text('₮'), amountDecimal: DecimalAmount })),
    'Sums, per token.',
  ),
})

export const InboxItem = Closed(
  {
    kind: described(Enum(inboxKinds), 'Subject of the vote. The paths of its kind read, approve and reject it.'),
    id: Id,
    vault: described(
      Closed({ id: Id, code: Text('main-vault'), name: Text('Main vault') }),
      'The vault that it belongs to.',
    ),
    actionType: described(
      Enum(['transfer', ...requestActions]),
      'Action that is, or was, voted on; `transfer` for a payout.',
    ),
    status: described(Enum(votableStatuses), 'Status of the transfer, of the approval request or of the payout.'),
    initiator: Ref(MemberProfile),
    createdAt: Timestamp,
    expiresAt: described(Nullable(Timestamp), 'Instant at which the time to vote ends, or ended, in UTC.'),
    payloadHash: described(
      PayloadHash,
      'SHA-256 (hex) to which votes are bound. A vote may name the hash that its voter was shown.',
    ),
    myDecision: described(
      Nullable(Enum(['approve', 'reject'])),
      'Vote of the caller; null if the caller has not voted.',
    ),
    decidedAt: described(Nullable(Timestamp), 'Instant of the vote of the caller, in UTC; null for no vote.'),
    votes: described(
      Closed({
        given: Type.Integer({ minimum: 0, examples: [1], description: 'Approvals that count.' }),
        needed: Type.Integer({ minimum: 0, examples: [2], description: 'Approvals that are needed.' }),
      }),
      'The votes of the policy that lacks most votes, when several policies require votes; the object itself lists all of them.',
    ),
    transfer: described(Nullable(InboxTransfer), 'The transfer; null for other kinds.'),
    approvalRequest: described(Nullable(InboxRequest), 'The approval request; null for other kinds.'),
    payout: described(Nullable(InboxPayout), 'The payout; null for other kinds.'),
  },
  { $id: 'InboxItem', description: 'An item that waits, or waited, for votes.' },
)

export const InboxQuery = Closed({
  state: optional(
    Type.Unsafe<InboxState>(Type.String({ enum: [...inboxStates], default: 'waiting', examples: ['waiting'] })),
    '`waiting`: the caller may vote on it now. `decided`: the caller voted on it. `mine`: the caller requested it, and it ' +
      'waited for votes.',
  ),
  ...pageQuery,
})

export const InboxCount = Closed(
  {
    waiting: Type.Integer({
      minimum: 0,
      maximum: inboxCountMax,
      description: `Number of items that wait for the vote of the caller, counted to ${inboxCountMax}.`,
      examples: [3],
    }),
    waitingCapped: Type.Boolean({ description: 'True if more items wait than were counted.', examples: [false] }),
  },
  { $id: 'InboxCount', description: 'Number of items that wait for the caller, in all their vaults.' },
)

const voted = {
  vaultCode: described(VaultCode, 'Code of the vault.'),
  kind: described(Enum(inboxKinds), 'Subject of the vote.'),
  id: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'Identifier of the transfer, the payout or the approval request.',
    examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
  }),
  decision: described(
    Enum(['approve', 'reject']),
    'The vote. One rejection ends the transfer, the payout or the approval request.',
  ),
}

const BulkVote = Closed({
  ...voted,
  payloadHash: described(
    PayloadHash,
    'The `payloadHash` that the voter was shown. It is required here, so that nobody votes on an item that they have not seen.',
  ),
  signature: Signature,
  comment: optional(
    Type.String({ maxLength: noteLengthMax, examples: ['Checked against the invoice'] }),
    'Remark for the initiator and the other approvers.',
  ),
})
export type BulkVote = Static<typeof BulkVote>

export const BulkVotes = Closed({
  votes: Type.Array(BulkVote, {
    minItems: 1,
    maxItems: bulkVotesMax,
    description: 'The votes, which are cast in this order.',
  }),
})

const BulkVoteResult = Closed({
  ...voted,
  status: described(
    Nullable(Enum(votableStatuses)),
    'Status of the transfer, payout or approval request after the vote; null if the vote was refused.',
  ),
  error: described(
    Nullable(Type.Unsafe<Static<typeof ErrorSchema>>(Type.Ref('Error'))),
    'Why the vote was refused, as a single vote would be; null if it was cast.',
  ),
})
export type BulkVoteResult = Static<typeof BulkVoteResult>

export const BulkVoteResults = Closed(
  { items: Type.Array(BulkVoteResult, { description: 'A result for each vote, in the order of the votes.' }) },
  { $id: 'BulkVoteResults', description: 'Results of several votes.' },
)

export const inboxComponents = [InboxItem, InboxCount, BulkVoteResults]
