import type {
  ApprovalRequest,
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
  Payout,
  SignedVote,
  Transfer,
  TransferOrder,
  TransferPreview,
} from '@strongroom/sdk'
import { strongroom } from './api.ts'
import { canonicalJson, sha256 } from './hashes.ts'
import { t } from './language.ts'

/** Whether this browser can use passkeys here: not on a page that came over plain http from another machine. */
export const hasPasskeys = (): boolean => 'PublicKeyCredential' in window

/** Has an authenticator make a passkey. @throws DOMException when the person declines or it has one already */
export async function makePasskey(options: PasskeyCreationOptions): Promise<PasskeyAttestation> {
  const { challenge, user, excludeCredentials, ...rest } = options
  const made = (await navigator.credentials.create({
    publicKey: {
      ...rest,
      challenge: toBytes(challenge),
      user: { ...user, id: toBytes(user.id) },
      excludeCredentials: excludeCredentials.map(toDescriptor),
    },
  })) as PublicKeyCredential
  const response = made.response as AuthenticatorAttestationResponse
  return {
    id: toText(made.rawId),
    clientDataJSON: toText(response.clientDataJSON),
    attestationObject: toText(response.attestationObject),
    transports: response.getTransports(),
  }
}

/** Has one of the person's passkeys sign. @throws DOMException when the person declines */
export async function signWithPasskey(options: PasskeyRequestOptions): Promise<PasskeyAssertion> {
  const { challenge, allowCredentials, ...rest } = options
  const signed = (await navigator.credentials.get({
    publicKey: { ...rest, challenge: toBytes(challenge), allowCredentials: allowCredentials.map(toDescriptor) },
  })) as PublicKeyCredential
  const response = signed.response as AuthenticatorAssertionResponse
  return {
    id: toText(signed.rawId),
    clientDataJSON: toText(response.clientDataJSON),
    authenticatorData: toText(response.authenticatorData),
    signature: toText(response.signature),
  }
}

/** A signature for exactly one request, by a passkey of the reader. */
export async function confirmRequest(
  method: 'DELETE' | 'POST' | 'PUT' | 'PATCH',
  path: string,
): Promise<PasskeyAssertion> {
  return signWithPasskey(await strongroom.me.prepareConfirmation({ method, path: `/api/v1${path}` }))
}

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
async function signVote({ bound, payloadHash, isShown, ...rest }: Binding): Promise<SignedVote> {
  const hash = await sha256(canonicalJson(bound))
  if (!isShown || hash !== payloadHash) throw new Error(t('What is shown is not what would be signed.'))
  const vote: Vote = { format: 'strongroom-vote-1', hash, ...rest }
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(vote)))
  const { id: keyId, ...signature } = await signWithPasskey({
    rpId: location.hostname,
    challenge: toText(challenge),
    timeout: 300_000,
    userVerification: 'required',
    allowCredentials: [],
  })
  return { vote, keyId, ...signature }
}

/** An amount in whatever unit: without its point, and zeros around it. */
const digitsOf = (amount: string): string => amount.replace('.', '').replace(/^0+|0+$/g, '')

/** The approval of exactly what the page of a transfer or of a request shows, signed by the reader. */
export async function signApproval(shown: Transfer | ApprovalRequest | Payout): Promise<SignedVote> {
  const { user } = await strongroom.auth.getCurrentSession()
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
  return signVote({ subject, decision: 'approve', person: user.id, bound, payloadHash: shown.payloadHash, isShown })
}

/** What the initiator signs of an order, where its preview asks for that. */
export async function signOrder(
  order: TransferOrder,
  { order: bound, vote }: Required<Pick<TransferPreview, 'order' | 'vote'>>,
): Promise<TransferOrder> {
  const { transferId, expiresAt = '', rulesVersion = 0, toAddress, fromAddressId, amount } = bound
  const isShown =
    toAddress.toLowerCase() === order.toAddress.toLowerCase() &&
    fromAddressId === order.fromAddressId &&
    digitsOf(amount) === digitsOf(order.amount)
  const { person, hash: payloadHash } = vote
  const signed = await signVote({ subject: 'transfer', decision: 'initiate', person, bound, payloadHash, isShown })
  return { ...order, signed: { transferId, expiresAt, rulesVersion, vote: signed } }
}

/** Whether the person closed the browser's window about the passkey, which is no fault. */
export const isDeclined = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotAllowedError'

const toDescriptor = ({ id, transports }: PasskeyRequestOptions['allowCredentials'][number]) => ({
  type: 'public-key' as const,
  id: toBytes(id),
  transports: transports as AuthenticatorTransport[],
})

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(bytes: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
