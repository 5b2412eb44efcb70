import type {
  ApprovalRequest,
  BulkVoteResults,
  InboxItem,
  Payout,
  SignedVote,
  StrongroomError,
  Transfer,
} from '@strongroom/sdk'
import type { Waiting } from '@strongroom/sdk/signing'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'

/** The subject of an item, for the pages that list waiting items. */
export { subjectOf } from './words.ts'

export type InboxState = 'waiting' | 'decided' | 'mine'
export type SubjectKind = 'transfer' | 'request' | 'payout'
export type Vote = {
  kind: SubjectKind
  code: string
  decision: 'approve' | 'reject'
  comment: string
  shown: { id: string; payloadHash: string }
  /** The document that the page shows and a vote signs; null if the page shows none. */
  toSign: Waiting | null
  /** True if the voter wants to sign where the service does not require it. */
  isSigned: boolean
}

/** Reads the items that wait for the reader, that the reader decided, or that the reader requested, over all vaults. */
export const inboxQuery = (state: InboxState) =>
  infiniteQueryOptions({
    queryKey: ['inbox', state],
    queryFn: ({ pageParam, signal }) =>
      strongroom.inbox
        .list({ state, limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const inboxCountQuery = queryOptions({
  queryKey: ['inbox', 'count'],
  queryFn: ({ signal }) => strongroom.inbox.count({ signal }),
})

/** Reads the newest item that waits for the reader. */
export const nextWaitingQuery = queryOptions({
  queryKey: ['inbox', 'next'],
  queryFn: async ({ signal }) => (await strongroom.inbox.list({ limit: 1 }, { signal }).page()).items[0] ?? null,
})

export const transferQuery = (code: string, id: string) =>
  queryOptions({
    queryKey: ['transfers', code, id],
    queryFn: ({ signal }) => vaultOf(code).transfers.get(id, { signal }),
  })

export const requestQuery = (code: string, id: string) =>
  queryOptions({
    queryKey: ['approval-requests', code, id],
    queryFn: ({ signal }) => vaultOf(code).approvalRequests.get(id, { signal }),
  })

export type NamedKind = 'counterparty' | 'counterparty_group' | 'category'
type Named = { name: string; addresses?: { id: string; address: string }[] }

/** Reads the object with this id, for its name. */
export const namedQuery = (code: string, kind: NamedKind, id: string) =>
  queryOptions({
    queryKey: ['approval-requests', code, 'names', kind, id],
    queryFn: ({ signal }): Promise<Named> => {
      const { counterparties, counterpartyGroups, operationCategories } = vaultOf(code)
      const resources = {
        counterparty: counterparties,
        counterparty_group: counterpartyGroups,
        category: operationCategories,
      }
      return resources[kind].get(id, { signal })
    },
  })

export const payoutQuery = (code: string, id: string) =>
  queryOptions({
    queryKey: ['payouts', code, id],
    queryFn: ({ signal }) => vaultOf(code).payouts.get(id, { signal }),
  })

export const payoutRowsQuery = (code: string, id: string) =>
  infiniteQueryOptions({
    queryKey: ['payouts', code, id, 'rows'],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .payouts.listRows(id, { limit: 100, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** The first part of the query keys under which the subject of a vote is kept. */
export const subjectKeys = { transfer: 'transfers', request: 'approval-requests', payout: 'payouts' } as const

export function sendVote({
  kind,
  code,
  decision,
  comment,
  shown,
  toSign,
  isSigned,
}: Vote): Promise<Transfer | ApprovalRequest | Payout> {
  const { transfers, approvalRequests, payouts } = vaultOf(code)
  const { id, payloadHash } = shown
  const send = (signed: { signature?: SignedVote }): Promise<Transfer | ApprovalRequest | Payout> => {
    const body = { payloadHash, ...(comment === '' ? {} : { comment }), ...signed }
    if (kind === 'transfer') return transfers[decision](id, body)
    if (kind === 'payout') return payouts[decision](id, body)
    return approvalRequests[decision](id, body)
  }
  const sign = async () => {
    if (toSign === null) throw new Error(t('What is shown is not what would be signed.'))
    const { signShown } = await import('../../lib/sign-votes.ts')
    return send({ signature: await signShown(code, toSign, payloadHash, decision) })
  }
  if (isSigned) return sign()
  // The service refuses an unsigned vote where the vault requires a signature. Then the vote is signed.
  return send({}).catch((error: StrongroomError) => {
    if (error.reason !== 'signature_required') throw error
    return sign()
  })
}

/**
 * Sends the same decision on several items, each bound to the content that its voter saw. The service may refuse some
 * of them.
 */
export function sendVotes(
  items: readonly InboxItem[],
  decision: Vote['decision'],
  comment: string,
  idempotencyKey: string,
): Promise<BulkVoteResults> {
  const remark = comment === '' ? {} : { comment }
  const votes = items.map(({ vault, kind, id, payloadHash }) => ({
    vaultCode: vault.code,
    ...{ kind, id, decision, payloadHash, ...remark },
  }))
  return strongroom.inbox.voteOnMany({ votes }, { idempotencyKey })
}

/** Returns the page on which an item of the inbox is decided. */
export function pathOf({ kind, id, vault }: InboxItem): string {
  return `/v/${vault.code}/approvals/${kind === 'approval_request' ? 'request' : kind}/${id}`
}
