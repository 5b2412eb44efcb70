import {
  type ApprovalRequest,
  type Payout,
  type PayoutOrder,
  type PayoutPreview,
  type PayoutRow,
  type SignedVote,
  StrongroomError,
  type Transfer,
  type TransferOrder,
  type TransferPreview,
} from '@strongroom/sdk'
import { strongroom, vaultOf } from './api.ts'
import { signChallenge } from './authenticator.ts'
import { canonicalJson, sha256 } from './hashes.ts'
import { t } from './language.ts'
import { payoutOf } from './signed-payout.ts'

type Vote = SignedVote['vote']
type Binding = Pick<Vote, 'subject' | 'decision' | 'person'> & {
  /** What is signed, from which the hash is computed here. */
  bound: object
  /** Its hash, as the service says. */
  payloadHash: string
  /** Whether the page shows what is bound. */
  isShown: boolean
}

/** @throws an error for people when the page shows something else than would be signed; nothing is signed then */
async function signVote({ bound, payloadHash, isShown, ...rest }: Binding, code: string): Promise<SignedVote> {
  const hash = await sha256(canonicalJson(bound))
  if (!isShown || hash !== payloadHash) throw new Error(t('What is shown is not what would be signed.'))
  const [authority, signedAt] = [await hashOfAuthority(code), new Date().toISOString()]
  const vote: Vote = { format: 'strongroom-vote-2', hash, authority, signedAt, ...rest }
  if (vote.subject === 'transfer') {
    const { origins } = await readSigningPages(code)
    if (origins[0] !== undefined) return (await import('./sign-elsewhere.ts')).signElsewhere(origins[0], bound, vote)
  }
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(vote)))
  const { id: keyId, ...signature } = await signChallenge(new Uint8Array(challenge))
  return { vote, keyId, ...signature }
}

/** Of the authority in force, from its document; null: the wallet service has none. */
async function hashOfAuthority(code: string): Promise<string | null> {
  try {
    return await sha256(canonicalJson((await vaultOf(code).authority.get()).document))
  } catch (error) {
    if (error instanceof StrongroomError && error.status === 404) return null
    throw error
  }
}

/** Nobody signs here because the list of pages is missing: this page is one of the service, which may withhold the list. */
function readSigningPages(code: string) {
  return vaultOf(code)
    .authority.getSigningPages()
    .catch(() => {
      throw new Error(t('It cannot be read on which page you sign, and nothing was signed. Try again later.'))
    })
}

/** An amount in whatever unit: without its point, and zeros around it. */
const digitsOf = (amount: string): string => amount.replace('.', '').replace(/^0+|0+$/g, '')

/** A payout with all of its rows, as the page shows them. */
export type ShownPayout = Payout & { rows: PayoutRow[] }

/** The approval of exactly what the page of a transfer, a request or a payout shows, signed by the reader. */
export async function signApproval(code: string, shown: Transfer | ApprovalRequest | ShownPayout): Promise<SignedVote> {
  const { user } = await strongroom.auth.getCurrentSession()
  if ('rows' in shown) return signPayoutVote(code, shown, user.id)
  const isRequest = 'boundPayload' in shown
  const bound = isRequest ? shown.boundPayload : (shown as Transfer).payload
  const { toAddress, network, fromAddress, amountDecimal, payload } = shown as Transfer
  const isShown =
    isRequest ||
    (payload.toAddress === toAddress &&
      payload.network === network &&
      payload.fromAddress === fromAddress.address &&
      digitsOf(payload.amount) === digitsOf(amountDecimal))
  const subject = isRequest ? 'approval_request' : 'transfer'
  const { payloadHash } = shown
  return signVote({ subject, decision: 'approve', person: user.id, bound, payloadHash, isShown }, code)
}

async function signPayoutVote(code: string, { id, rows, rowsCount, sums, payloadHash }: ShownPayout, person: string) {
  const orders = rows.map(({ payload }) => payload)
  const bound = await payoutOf(id, orders)
  const isShown =
    rows.length === rowsCount &&
    rows.every(
      ({ payload, toAddress, network, fromAddress, amountDecimal }) =>
        payload.toAddress === toAddress &&
        payload.network === network &&
        payload.fromAddress === fromAddress &&
        digitsOf(payload.amount) === digitsOf(amountDecimal),
    ) &&
    bound.sums.every(({ amount }, i) => digitsOf(amount) === digitsOf(sums[i]?.amountDecimal ?? ''))
  return signVote({ subject: 'payout', decision: 'approve', person, bound, payloadHash, isShown }, code)
}

/** What the initiator signs of an order, where its preview asks for that. */
export async function signOrder(
  code: string,
  order: TransferOrder,
  { order: bound, vote }: Required<Pick<TransferPreview, 'order' | 'vote'>>,
): Promise<TransferOrder> {
  const { transferId, expiresAt = '', rulesVersion = 0, toAddress, fromAddressId, amount } = bound
  const isShown =
    toAddress.toLowerCase() === order.toAddress.toLowerCase() &&
    fromAddressId === order.fromAddressId &&
    digitsOf(amount) === digitsOf(order.amount)
  const { person, hash: payloadHash } = vote
  const signed = await signVote(
    { subject: 'transfer', decision: 'initiate', person, bound, payloadHash, isShown },
    code,
  )
  return { ...order, signed: { transferId, expiresAt, rulesVersion, vote: signed } }
}

/** What the initiator signs of a payout, where its preview asks for that. */
export async function signPayout(
  code: string,
  order: PayoutOrder,
  { payoutId, orders, vote }: NonNullable<PayoutPreview['toSign']>,
): Promise<PayoutOrder> {
  const bound = await payoutOf(payoutId, orders)
  const isShown =
    orders.length === order.rows.length &&
    order.rows.every((row, i) => {
      const { toAddress, fromAddressId, tokenId, amount } = orders[i]!
      return (
        toAddress.toLowerCase() === row.toAddress.toLowerCase() &&
        fromAddressId === row.fromAddressId &&
        tokenId === row.tokenId &&
        digitsOf(amount) === digitsOf(row.amount)
      )
    })
  const { person, hash: payloadHash } = vote
  const signed = await signVote({ subject: 'payout', decision: 'initiate', person, bound, payloadHash, isShown }, code)
  const { rulesVersion = 0, expiresAt = '' } = bound
  return { ...order, signed: { payoutId, expiresAt, rulesVersion, vote: signed } }
}
