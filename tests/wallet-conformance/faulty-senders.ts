import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultyWallet } from './faulty-wallets.ts'
import { type Body, bodyOf, jsonReply, rewrite, rewriteBody } from './mistakes.ts'
import type { Call, Fault } from './stand.ts'

const always = () => true
const acknowledged = jsonReply(200, { received: true })

/** Mistakes of a wallet service in its webhooks; the relay stands between the service and the kit. */
export const faultySenders: FaultyWallet[] = [
  ['webhooks.reported', 'reports no transfers between own addresses', async () => acknowledged],
  ['webhooks.form', 'leaves the index out', changeTx(() => ({ index: undefined }))],
  ['webhooks.identity', 'reports another hash', changeTx(() => ({ txHash: `0x${'0'.repeat(64)}` }))],
  ['webhooks.amount', 'reports raw amounts', changeTx(() => ({ amount: '10000' }))],
  ['webhooks.final', 'reports before the block', changeTx(() => ({ confirmations: 0 }))],
  ['webhooks.occurrence', 'counts deliveries', changeTx(() => ({ occurrence: 1 }))],
  ['webhooks.not-orphaned', 'reports a mined deposit as orphaned', orphansMined()],
  ['webhooks.signature', 'signs with another secret', changeHeaders(() => ({ 'webhook-signature': 'v1,AAAA' }))],
  [
    'webhooks.timestamp',
    'counts milliseconds',
    changeHeaders((headers) => ({ 'webhook-timestamp': `${headers['webhook-timestamp']}000` })),
  ],
  ['webhooks.event-id', 'numbers deliveries', changeHeaders(() => ({ 'webhook-id': 'delivery-1' }))],
  ['webhooks.distinct-ids', 'has one id for all', rewriteBody(always, () => ({ id: 'evt_1' }))],
  [
    'webhooks.acknowledged-once',
    'sends again what was acknowledged',
    async (_call, forward) => {
      await forward()
      return await forward()
    },
  ],
  ['webhooks.after-server-error', 'gives up after a 500', takeForDelivered((status) => status >= 500)],
  ['webhooks.after-client-error', 'gives up after a 401', takeForDelivered((status) => status >= 400)],
  [
    'webhooks.after-silence',
    'takes silence for a yes',
    async (_call, forward) =>
      await Promise.race([forward().catch(() => acknowledged), sleep(2_000).then(() => acknowledged)]),
  ],
  [
    'webhooks.after-reset',
    'takes a cut connection for a yes',
    async (_call, forward) => await forward().catch(() => acknowledged),
  ],
  [
    'webhooks.no-redirect',
    'follows redirects',
    async (_call, forward) => {
      const answer = await forward()
      return answer.status === 307 ? await forward({ path: String(answer.headers.location) }) : answer
    },
  ],
  ['webhooks.same-event', 'has a new id for each delivery', newIds()],
  ['webhooks.signed-anew', 'keeps the first signature', firstSignature()],
  [
    'webhooks.spacing',
    'tries again at once',
    async (_call, forward) => {
      const answer = await forward()
      return answer.status >= 500 ? await forward() : answer
    },
  ],
  ['webhooks.independent', 'sends in order', inOrder()],
  ['webhooks.token', 'reports tokens as coins', changeTx(() => ({ asset: null }))],
]

function orphansMined(): Fault {
  return async (call, forward) => {
    const answer = await forward()
    await forward({ body: JSON.stringify({ ...bodyOf(call), kind: 'DEPOSIT_ORPHANED' }) })
    return answer
  }
}

export function changeTx(change: (tx: Body) => Body): Fault {
  return rewriteBody(always, ({ tx }) => ({ tx: { ...(tx as Body), ...change(tx as Body) } }))
}

function changeHeaders(change: (headers: Call['headers']) => Call['headers']): Fault {
  return rewrite(always, ({ headers }) => ({ headers: { ...headers, ...change(headers) } }))
}

function takeForDelivered(isTaken: (status: number) => boolean): Fault {
  return async (_call, forward) => {
    const answer = await forward()
    return isTaken(answer.status) ? acknowledged : answer
  }
}

function newIds(): Fault {
  let count = 0
  return changeHeaders((headers) => {
    count += 1
    return { 'webhook-id': `${headers['webhook-id']}-${count}` }
  })
}

function firstSignature(): Fault {
  const first = new Map<unknown, Call['headers']>()
  return changeHeaders((headers) => {
    const id = headers['webhook-id']
    if (!first.has(id)) first.set(id, headers)
    return first.get(id)!
  })
}

/** Holds back every event while another event waits for its acknowledgement. */
function inOrder(): Fault {
  let refused: unknown = null
  return async ({ headers }, forward) => {
    const id = headers['webhook-id']
    if (refused !== null && refused !== id) return jsonReply(503, {})
    const answer = await forward()
    refused = answer.status < 300 ? null : id
    return answer
  }
}
