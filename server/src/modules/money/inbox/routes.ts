import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { bulkVotesMax, inboxCountMax } from '../../../lib/limits.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { toInboxItem } from './present.ts'
import { countWaiting, listInbox } from './queries.ts'
import { BulkVoteResults, BulkVotes, InboxCount, InboxItem, InboxQuery } from './schema.ts'
import { voteOnMany } from './vote-on-many.ts'

/** `executors` must cover every action, because a vote may complete a request of any of them. */
export function inboxRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Inbox', { access: 'caller', scopes: { reads: 'read', writes: 'vote' } })

  api.list('listInbox', '/inbox', {
    summary: 'List your inbox',
    description:
      'Transfers, payouts and approval requests of all vaults of the caller that wait for their vote, that they voted on, ' +
      'or that they requested. Newest first: by the vote in `decided`, otherwise by the creation. A cursor is valid only ' +
      'with the `state` of the request that returned it.',
    querystring: InboxQuery,
    item: InboxItem,
    cursorOf: ({ query: { state = 'waiting' } }) => ({ list: 'inbox', state }),
    load: (db, { caller, query: { state = 'waiting' }, now }, page) =>
      listInbox(db, { userId: caller.userId, now }, state, page),
    present: toInboxItem,
    position: ({ at, id }) => ({ createdAt: at, id }),
  })

  api.get('countInbox', '/inbox/count', {
    summary: 'Count pending votes',
    description: `Counts the items of all vaults of the caller, up to ${inboxCountMax}.`,
    answers: { 200: InboxCount },
    handler: async (db, { caller, now }) => {
      const counted = await countWaiting(db, { userId: caller.userId, now })
      return { waiting: Math.min(counted, inboxCountMax), waitingCapped: counted > inboxCountMax }
    },
  })

  api.send.post('voteOnMany', '/inbox/votes', {
    summary: 'Cast several votes',
    description:
      `At most ${bulkVotesMax} votes on transfers, payouts and approval requests of any vaults of the caller. Each vote is ` +
      'cast by itself, in the order of the list, as `approve` and `reject` of its kind do; a refused vote does not stop the ' +
      'others. The answer is 200 with the outcome of each vote, also when all are refused.',
    body: BulkVotes,
    answers: { 200: BulkVoteResults },
    handler: ({ caller, body }, { request, answerOnce }) =>
      answerOnce(async () => ({
        items: await voteOnMany({ deps, executors, caller, requestId: request.id }, body.votes),
      })),
  })
}
