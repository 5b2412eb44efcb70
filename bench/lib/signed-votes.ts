import { canonicalJson } from '../../server/src/lib/canonical-json.ts'
import { sha256 } from '../../server/src/lib/secrets.ts'
import type { Vote } from '../../server/src/lib/signed-vote.ts'
import { Authenticator } from '../../server/src/testing/authenticator.ts'
import { authorityAnswer } from '../../server/src/testing/fake-authority.ts'
import { newVote } from '../../server/src/testing/votes.ts'
import { loadClosed, percentile, toRequest } from './http-load.ts'
import { measureRounds } from './rounds.ts'
import type { Run } from './run.ts'
import { bearer, connections, inTurn, recipient, sendAll } from './transfers.ts'

const ordersPerMeasurement = 200

type Signer = { token: string; userId: string; key: Authenticator }

/**
 * Measures votes in a protected vault, each with the assertion of a passkey, and the same votes in an unprotected
 * vault. The votes come from one person after the other, and from many at once.
 */
export async function measureSignedVotes(run: Run): Promise<void> {
  const { record, rounds, world } = run
  const initiator = await signerOf(run, world.initiator)
  const admin = await signerOf(run, world.admin)
  // The hand-over asks for the authority. Without an authority, orders would wait and be retried during the
  // measurement.
  world.wallet.authority = authorityAnswer(world.vault.id, [])
  const approvers = await Promise.all(world.approvers.map((token) => signerOf(run, token)))
  const cast = (isProtected: boolean, atOnce: number) => async () => {
    await protect(run, admin, isProtected ? 'votes' : 'off')
    const orders = await orderMany(run, isProtected ? initiator : null)
    const votes = approvers.map((approver) => orders.map((order) => voteOf(run, approver, order, isProtected)))
    if (atOnce === 1) return medianOf(run, votes.flat())
    const perSecond: number[] = []
    for (const ofOne of votes) perSecond.push(await sendAll(run, ofOne, 200))
    return perSecond.reduce((sum, rate) => sum + rate, 0) / perSecond.length
  }
  const sides = await measureRounds(rounds, {
    plain: cast(false, 1),
    signed: cast(true, 1),
    manyPlain: cast(false, connections),
    manySigned: cast(true, connections),
  })
  record.add('a vote, one after the other, median', 'ms', sides.plain)
  record.add('  with the assertion of a passkey', 'ms', sides.signed)
  record.add(`votes, ${connections} connections`, '/s', sides.manyPlain)
  record.add('  with the assertion of a passkey', '/s', sides.manySigned)
  record.expect('signedVote', sides.signed.median / sides.plain.median)
  record.expect('signedVote', sides.manyPlain.median / sides.manySigned.median, `of ${connections} at once`)
}

async function medianOf(run: Run, requests: Buffer[]): Promise<number> {
  const waiting = requests.toReversed()
  const load = { port: run.stack.port, seconds: 600, connections: 1, next: () => waiting.pop() ?? null }
  const { answers, latencies } = await loadClosed(load)
  if (Object.keys(answers).join() !== '200') throw new Error(`Votes were answered ${JSON.stringify(answers)}`)
  return percentile(latencies, 0.5)
}

async function signerOf({ world, stack }: Run, token: string): Promise<Signer> {
  const key = new Authenticator(stack.settings.PUBLIC_URL)
  const options = await world.call(token, 'POST', '/users/me/passkeys/options', {})
  const { creation } = options as { creation: { nonce: string } }
  await world.call(token, 'POST', '/users/me/passkeys', { name: 'Bench', credential: await key.register(creation) })
  const { user } = (await world.call(token, 'GET', '/auth/session')) as { user: { id: string } }
  return { token, userId: user.id, key }
}

/** Changes the protection of the vault, confirmed with a passkey. */
async function protect(run: Run, { token, key }: Signer, protection: 'votes' | 'off'): Promise<void> {
  const { call } = run.world
  const path = `${vaultPath(run)}/protection`
  const bodyHash = sha256(canonicalJson({ protection })).toString('hex')
  const request = { method: 'PUT', path: `/api/v1${path}`, bodyHash }
  const options = await call(token, 'POST', '/users/me/passkeys/confirmation', request)
  const assertion = await key.confirm(request, options as { nonce: string })
  const header = Buffer.from(JSON.stringify(assertion)).toString('base64url')
  await call(token, 'PUT', path, { protection }, { 'passkey-assertion': header })
}

type Order = { id: string; payload: object }

/** Places orders that wait for three votes. With a signer, each order is signed. */
async function orderMany(run: Run, signer: Signer | null): Promise<Order[]> {
  const next = inTurn(run.world.funded)
  const { call, initiator } = run.world
  const path = `${vaultPath(run)}/transfers`
  const place = async (): Promise<Order> => {
    const order = { fromAddressId: next().id, toAddress: recipient, token: 'USDT', amount: '20000' }
    const signed = signer === null ? {} : { signed: await signOrder(run, signer, order) }
    return (await call(initiator, 'POST', path, { ...order, ...signed })) as Order
  }
  const orders: Order[] = []
  while (orders.length < ordersPerMeasurement)
    orders.push(...(await Promise.all(Array.from({ length: 10 }, () => place()))))
  return orders
}

async function signOrder(run: Run, { token, key }: Signer, wanted: object): Promise<object> {
  const preview = await run.world.call(token, 'POST', `${vaultPath(run)}/transfers/preview`, wanted)
  const { order, vote } = preview as {
    order: { transferId: string; expiresAt: string; rulesVersion: number }
    vote: Vote
  }
  const { transferId, expiresAt, rulesVersion } = order
  return { transferId, expiresAt, rulesVersion, vote: key.vote(vote) }
}

/** Returns the request of a vote, signed before the measurement starts. */
function voteOf(run: Run, { token, userId, key }: Signer, { id, payload }: Order, isSigned: boolean): Buffer {
  const hash = sha256(canonicalJson(payload)).toString('hex')
  const vote = newVote({ subject: 'transfer', hash, decision: 'approve', person: userId })
  const body = { payloadHash: hash, ...(isSigned ? { signature: key.vote(vote) } : {}) }
  return toRequest('POST', `/api/v1${vaultPath(run)}/transfers/${id}/approve`, bearer(token), JSON.stringify(body))
}

const vaultPath = ({ world }: Run): string => `/vaults/${world.vault.code}`
