import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
} from '@strongroom/sdk'
import { challengeOf } from '@strongroom/sdk/signing'
import { toBytes, toText } from './hashes.ts'
import { t } from './language.ts'

/**
 * Returns true if this browser can use passkeys here. It cannot on a page that came over plain HTTP from another
 * machine.
 */
export const hasPasskeys = (): boolean => 'PublicKeyCredential' in window

/**
 * Lets an authenticator make a sign-in key.
 * @throws DOMException if the person declines or the authenticator already has a key
 */
export async function makePasskey(options: PasskeyCreationOptions): Promise<PasskeyAttestation> {
  const { nonce, rp, user, excludeCredentials, ...rest } = options
  const made = (await navigator.credentials.create({
    publicKey: {
      ...rest,
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      rp: { ...rp, id: location.hostname },
      challenge: await challengeOf({ purpose: 'add-passkey', origin: location.origin, nonce }),
      user: { ...user, id: toBytes(user.id) },
      excludeCredentials: excludeCredentials.map(toDescriptor),
    },
  })) as PublicKeyCredential
  const response = made.response as AuthenticatorAttestationResponse
  return {
    id: toText(made.rawId),
    nonce,
    clientDataJSON: toText(response.clientDataJSON),
    attestationObject: toText(response.attestationObject),
    transports: response.getTransports(),
  }
}

type Purpose = { purpose: 'add-passkey' } | ({ purpose: 'confirm' } & ConfirmedCall)
/** The request that this page is about to send, as the page itself builds it. */
type ConfirmedCall = { method: string; path: string; bodyHash: string }

/**
 * Lets a sign-in key of the person sign for this purpose, which is part of the signed challenge.
 * @throws DOMException if the person declines
 */
export async function signFor(about: Purpose, options: PasskeyRequestOptions): Promise<PasskeyAssertion> {
  const { nonce, timeout, allowCredentials } = options
  const challenge = await challengeOf({ ...about, origin: location.origin, nonce })
  return { ...(await signChallenge(challenge, { timeout, allowCredentials })), nonce }
}

/**
 * Confirms a call with a sign-in key of the reader.
 * @throws an error with a message for people if the reader has no passkey
 */
export function confirmCall(call: ConfirmedCall, options: PasskeyRequestOptions): Promise<PasskeyAssertion> {
  if (options.allowCredentials.length === 0)
    throw new Error(t('This action needs a passkey: add a passkey on your own page first.'))
  const { method, path, bodyHash } = call
  return signFor({ purpose: 'confirm', method, path, bodyHash }, options)
}

type Asked = Pick<PasskeyRequestOptions, 'timeout' | 'allowCredentials'>

/**
 * Lets a passkey of this page sign a challenge that this page has computed.
 * @throws DOMException if the person declines
 */
export async function signChallenge(
  challenge: Uint8Array<ArrayBuffer>,
  { timeout, allowCredentials }: Asked = { timeout: 300_000, allowCredentials: [] },
): Promise<Omit<PasskeyAssertion, 'nonce'>> {
  const allowed = allowCredentials.map(toDescriptor)
  const signed = (await navigator.credentials.get({
    publicKey: {
      rpId: location.hostname,
      challenge,
      timeout,
      userVerification: 'required',
      allowCredentials: allowed,
    },
  })) as PublicKeyCredential
  const response = signed.response as AuthenticatorAssertionResponse
  return {
    id: toText(signed.rawId),
    clientDataJSON: toText(response.clientDataJSON),
    authenticatorData: toText(response.authenticatorData),
    signature: toText(response.signature),
  }
}

/** Returns true if the person closed the browser's dialog of the passkey, which is not an error. */
export const isDeclined = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotAllowedError'

const toDescriptor = ({ id, transports }: PasskeyRequestOptions['allowCredentials'][number]) => ({
  type: 'public-key' as const,
  id: toBytes(id),
  transports: transports as AuthenticatorTransport[],
})
