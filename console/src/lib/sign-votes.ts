import type { PayoutOrder, PayoutPreview, SignedVote, TransferOrder } from '@strongroom/sdk'
import {
  type Authority,
  type AuthorityDocument,
  canonicalJson,
  type Decision,
  type ExpectedOrder,
  expectedOf,
  type OrderDescription,
  type PayoutDescription,
  passkeySigner,
  readAuthority,
  type Signer,
  SigningError,
  signApproval,
  signAuthority,
  signOrder,
  signPayout,
  type Waiting,
} from '@strongroom/sdk/signing'
import { strongroom, vaultOf } from './api.ts'
import { signChallenge } from './authenticator.ts'
import { t } from './language.ts'

/**
 * The values that a person entered. The paying address is the only value from an answer of the service; the person saw
 * it.
 */
export type Entered = {
  fromAddress: string
  network: string
  symbol: string
  toAddress: string
  amount: string
  feeLevel?: 'low' | 'medium' | 'high' | undefined
  maxFee?: string | undefined
}

/** The content that a page showed of an order or a payout, decoded with the help of the authority. */
export type Shown<Description> = { description: Description; authority: Authority | null }

/**
 * Signs the vote on exactly the shown document.
 * @throws an error with a message for people if another document would be signed
 */
export function signShown(
  code: string,
  waiting: Waiting,
  payloadHash: string,
  decision: Exclude<Decision, 'initiate'>,
): Promise<SignedVote> {
  return inWords(async () => {
    const signer = await signerOf(code, shownElsewhere(waiting))
    return signApproval(waiting, boundTo(payloadHash, signer), decision)
  })
}

type Versions = { document: object; pending: { document: object } | null }

/** Signs that the pending version of the authority must not come into force. */
export function signAuthorityEnd(code: string, { document, pending }: Versions): Promise<SignedVote> {
  return inWords(async () => {
    const next = pending?.document as AuthorityDocument
    const expected = { authority: await readAuthority(document), document: canonicalJson(next) }
    return signAuthority(next, expected, await signerOf(code, { next }), 'reject')
  })
}

/**
 * Binds a signer to the document that the service names by this hash. The service takes no signature for another
 * document.
 */
function boundTo(payloadHash: string, signer: Signer): Signer {
  const sign: Signer['sign'] = (vote, subject) => {
    if (vote.hash !== payloadHash) throw new SigningError('payloadHash', 'is of another document')
    return signer.sign(vote, subject)
  }
  return { ...signer, sign }
}

/** Signs an order for its initiator: the entered values, with the terms that the page showed. */
export function signEntered(
  code: string,
  body: TransferOrder,
  entered: Entered,
  order: object,
  { description, authority }: Shown<OrderDescription>,
): Promise<TransferOrder> {
  return inWords(async () => {
    const expected = { ...expectedEntered(entered, description), authority }
    const vote = await signOrder(order, expected, await signerOf(code, {}))
    const { transferId, expiresAt, rulesVersion } = description.terms
    return { ...body, signed: { transferId, expiresAt, rulesVersion, vote } }
  })
}

/** Signs a payout for its initiator: the entered rows, with the terms that the page showed. */
export function signEnteredRows(
  code: string,
  body: PayoutOrder,
  rows: readonly Entered[],
  { payoutId, orders }: NonNullable<PayoutPreview['toSign']>,
  { description, authority }: Shown<PayoutDescription>,
): Promise<PayoutOrder> {
  return inWords(async () => {
    if (description.rows.length !== rows.length) throw new SigningError('rows', 'are not those that were entered')
    const expected = { authority, rows: rows.map((row, i) => expectedEntered(row, description.rows[i]!)) }
    const vote = await signPayout({ payoutId, orders }, expected, await signerOf(code, { payoutId, orders }))
    const { expiresAt, rulesVersion } = description
    return { ...body, signed: { payoutId, expiresAt, rulesVersion, vote } }
  })
}

/** @throws SigningError if the authority has another symbol for the token than the form had */
function expectedEntered(entered: Entered, shown: OrderDescription): ExpectedOrder {
  const { fromAddress, network, toAddress, amount, feeLevel, maxFee, symbol } = entered
  const { named, raw } = shown.amount
  if (named !== null && named.symbol !== symbol)
    throw new SigningError('symbol', `is ${named.symbol} and not ${symbol}`)
  const { contractAddress, initiatorId, vaultId, terms } = expectedOf(shown)
  // Nobody can enter an amount of a coin that the authority does not name, so the page shows the smallest unit instead.
  const limit = shown.feeLimit?.named === null ? BigInt(shown.feeLimit.raw) : maxFee
  return {
    ...{ vaultId, initiatorId, contractAddress, terms, fromAddress, network, toAddress },
    amount: named === null ? BigInt(raw) : amount,
    ...(feeLevel === undefined ? {} : { feeLevel }),
    ...(maxFee === undefined || limit === undefined ? {} : { maxFee: limit }),
  }
}

/**
 * The part of the request to the page of the wallet service that holds the document. Null if that page does not sign
 * it.
 */
type Elsewhere = { payoutId?: string; orders?: readonly unknown[]; next?: AuthorityDocument } | null

/**
 * Returns null for votes on approval requests. These are signed with a passkey of this service, because they concern
 * its rules and move nothing.
 */
function shownElsewhere(waiting: Waiting): Elsewhere {
  if (waiting.kind === 'approval_request') return null
  return waiting.kind === 'transfer' ? {} : { payoutId: waiting.payoutId, orders: waiting.orders }
}

/** Returns the signer of the reader: the page of the wallet service, or a passkey of this page. */
async function signerOf(code: string, elsewhere: Elsewhere): Promise<Signer> {
  const { user } = await strongroom.auth.getCurrentSession()
  const page = elsewhere === null ? undefined : (await readSigningPages(code)).origins[0]
  if (page !== undefined) return (await import('./sign-elsewhere.ts')).signerElsewhere(page, user.id, elsewhere ?? {})
  return passkeySigner(user.id, (challenge) => signChallenge(challenge))
}

/**
 * Reads the pages for signatures. Throws if they cannot be read: this page must not sign instead, because a compromised
 * service could withhold the list.
 */
function readSigningPages(code: string) {
  return vaultOf(code)
    .authority.getSigningPages()
    .catch(() => {
      throw new Error(t('It cannot be read on which page you sign, and nothing was signed. Try again later.'))
    })
}

async function inWords<Signed>(sign: () => Promise<Signed>): Promise<Signed> {
  try {
    return await sign()
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    throw new Error(t('What is shown is not what would be signed.'), { cause: error })
  }
}
