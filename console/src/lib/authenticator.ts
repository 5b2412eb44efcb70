import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
} from '@strongroom/sdk'
import { toBytes, toText } from './hashes.ts'
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

/** A signature by a passkey that the reader has at the service. @throws an error for people who have none */
export function signWithOwnPasskey(options: PasskeyRequestOptions): Promise<PasskeyAssertion> {
  if (options.allowCredentials.length === 0) throw new Error(t('This needs a passkey: add one on your own page first.'))
  return signWithPasskey(options)
}

/** Whether the person closed the browser's window about the passkey, which is no fault. */
export const isDeclined = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotAllowedError'

const toDescriptor = ({ id, transports }: PasskeyRequestOptions['allowCredentials'][number]) => ({
  type: 'public-key' as const,
  id: toBytes(id),
  transports: transports as AuthenticatorTransport[],
})
