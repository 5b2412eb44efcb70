import { bytesOf, digestOf, toBase64url } from './canonical.ts'
import type { SignedVote, Vote } from './documents.ts'

/** A signer. `subject` is the document that the vote is about, for a page that shows it once more. */
export interface Signer {
  person: string
  sign(vote: Vote, subject: object): Promise<SignedVote>
}

/** The Ed25519 key of a service, under the id with which it was registered. */
export interface ServiceSigningKey {
  id: string
  /** The user id of the service. */
  person: string
  /** A `CryptoKey` of WebCrypto. */
  privateKey: Parameters<typeof crypto.subtle.sign>[1]
}

/** The answer of a passkey. Bytes are in base64url. */
export interface Assertion {
  id: string
  signature: string
  authenticatorData: string
  clientDataJSON: string
}

/** Signs with the Ed25519 key of a service. */
export function serviceSigner({ id, person, privateKey }: ServiceSigningKey): Signer {
  const sign = async (vote: Vote): Promise<SignedVote> => {
    const signature = await crypto.subtle.sign('Ed25519', privateKey, bytesOf(vote))
    return { vote, keyId: id, signature: toBase64url(signature) }
  }
  return { person, sign }
}

/** Signs with a passkey. `ask` lets the passkey answer the challenge. */
export function passkeySigner(
  person: string,
  ask: (challenge: Uint8Array<ArrayBuffer>) => Assertion | Promise<Assertion>,
): Signer {
  const sign = async (vote: Vote): Promise<SignedVote> => {
    const { id: keyId, signature, authenticatorData, clientDataJSON } = await ask(await digestOf(vote))
    return { vote, keyId, signature, authenticatorData, clientDataJSON }
  }
  return { person, sign }
}
