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

/** What somebody entered, without any value that the service answered but the address that they saw it pay from. */
export type Entered = {
  fromAddress: string
  network: string
  symbol: string
  toAddress: string
  amount: string
  feeLevel?: 'low' | 'medium' | 'high' | undefined
  maxFee?: string | undefined
}

/** What a page showed of an order or a payout, decoded from it by the authority. */
export type Shown<Description> = { description: Description; authority: Authority | null }

/**
 * Signs the vote on exactly what the page shows.
 * @throws an error for people when that is not what would be signed
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

/** Signs that the version of the authority that waits must not come into force. */
export function signAuthorityEnd(code: string, { document, pending }: Versions): Promise<SignedVote> {
  return inWords(async () => {
    const next = pending?.document as AuthorityDocument
    const expected = { authority: await readAuthority(document), document: canonicalJson(next) }
    return signAuthority(next, expected, await signerOf(code, { next }), 'reject')
  })
}

/** The service votes on what it names by this hash, and takes no signature for another one. */
function boundTo(payloadHash: string, signer: Signer): Signer {
  const sign: Signer['sign'] = (vote, subject) => {
    if (vote.hash !== payloadHash) throw new SigningError('payloadHash', 'is of another document')
    return signer.sign(vote, subject)
  }
  return { ...signer, sign }
}

/** What the initiator signs of an order: what they entered, with the terms that the page showed. */
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

/** What the initiator signs of a payout: the rows that they entered, with the terms that the page showed. */
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

/** @throws SigningError for a token that the authority calls otherwise than the form did */
function expectedEntered(entered: Entered, shown: OrderDescription): ExpectedOrder {
  const { fromAddress, network, toAddress, amount, feeLevel, maxFee, symbol } = entered
  const { named, raw } = shown.amount
  if (named !== null && named.symbol !== symbol)
    throw new SigningError('symbol', `is ${named.symbol} and not ${symbol}`)
  const { contractAddress, initiatorId, vaultId, terms } = expectedOf(shown)
  // In a unit that no authority names nothing can be entered: the page shows the smallest unit instead.
  const limit = shown.feeLimit?.named === null ? BigInt(shown.feeLimit.raw) : maxFee
  return {
    ...{ vaultId, initiatorId, contractAddress, terms, fromAddress, network, toAddress },
    amount: named === null ? BigInt(raw) : amount,
    ...(feeLevel === undefined ? {} : { feeLevel }),
    ...(maxFee === undefined || limit === undefined ? {} : { maxFee: limit }),
  }
}

/** The part of the request to the page of the wallet service that holds the document; null: that page does not sign it. */
type Elsewhere = { payoutId?: string; orders?: readonly unknown[]; next?: AuthorityDocument } | null

/** Votes on requests are signed with a passkey of this service: they concern its rules, and move nothing. */
function shownElsewhere(waiting: Waiting): Elsewhere {
  if (waiting.kind === 'approval_request') return null
  return waiting.kind === 'transfer' ? {} : { payoutId: waiting.payoutId, orders: waiting.orders }
}

/** Where and with which key the reader signs. */
async function signerOf(code: string, elsewhere: Elsewhere): Promise<Signer> {
  const { user } = await strongroom.auth.getCurrentSession()
  const page = elsewhere === null ? undefined : (await readSigningPages(code)).origins[0]
  if (page !== undefined) return (await import('./sign-elsewhere.ts')).signerElsewhere(page, user.id, elsewhere ?? {})
  return passkeySigner(user.id, (challenge) => signChallenge(challenge))
}

/** Nobody signs here because the list of pages is missing: this page is one of the service, which may withhold the list. */
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
    throw new Error(`${t('What is shown is not what would be signed.')} (${error.message})`, { cause: error })
  }
}
