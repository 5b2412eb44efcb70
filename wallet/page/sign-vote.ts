import { canonical, sha256, toText } from './encoding.ts'
import { rpId } from './place.ts'

export interface Vote {
  format: 'strongroom-vote-2'
  subject: 'transfer'
  hash: string
  decision: string
  person: string
  /** Hash of the authority whose rules the person was shown. */
  authority: string
  signedAt: string
}

export interface SignedVote {
  vote: Vote
  keyId: string
  signature: string
  authenticatorData: string
  clientDataJSON: string
}

/** Has a passkey of this host sign a vote. */
export async function signVote(vote: Vote, signal: AbortSignal): Promise<SignedVote> {
  const challenge = await sha256(canonical(vote))
  const credential = (await navigator.credentials.get({
    publicKey: { rpId, challenge, timeout: 300_000, userVerification: 'required', allowCredentials: [] },
    signal,
  })) as PublicKeyCredential
  signal.throwIfAborted()
  const { signature, authenticatorData, clientDataJSON } = credential.response as AuthenticatorAssertionResponse
  return {
    vote,
    keyId: toText(credential.rawId),
    signature: toText(signature),
    authenticatorData: toText(authenticatorData),
    clientDataJSON: toText(clientDataJSON),
  }
}
