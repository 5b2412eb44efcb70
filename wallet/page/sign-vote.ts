import { digestOf, hashOf, type SignedVote, toBase64url, type Vote } from '../../sdk/src/signing/signing.ts'
import { windowEnd } from './one-request.ts'
import { rpId } from './place.ts'

type About = Pick<Vote, 'subject' | 'decision' | 'person'> & { authority: string }

/** Has a passkey of this host sign the vote on a document. */
export async function signVote(document: object, about: About): Promise<SignedVote> {
  const hash = await hashOf(document)
  const vote: Vote = { format: 'strongroom-vote-2', hash, ...about, signedAt: new Date().toISOString() }
  const challenge = await digestOf(vote)
  const credential = (await navigator.credentials.get({
    publicKey: { rpId, challenge, timeout: 300_000, userVerification: 'required', allowCredentials: [] },
    signal: windowEnd,
  })) as PublicKeyCredential
  windowEnd.throwIfAborted()
  const { signature, authenticatorData, clientDataJSON } = credential.response as AuthenticatorAssertionResponse
  return {
    vote,
    keyId: toBase64url(credential.rawId),
    signature: toBase64url(signature),
    authenticatorData: toBase64url(authenticatorData),
    clientDataJSON: toBase64url(clientDataJSON),
  }
}
