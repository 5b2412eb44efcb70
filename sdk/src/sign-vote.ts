import type { SignedVote } from './generated/api.ts'

/** The Ed25519 key of a service, under the id with which it was registered. */
export interface ServiceSigningKey {
  id: string
  /** A `CryptoKey` of WebCrypto. */
  privateKey: Parameters<typeof crypto.subtle.sign>[1]
}

/**
 * Signs a vote of a protected vault with the key of a service: what `vote` of a preview says, or one that was made for the
 * `payloadHash` of what waits. Compute that hash yourself from what you mean to permit.
 *
 *     const { vote } = await vault.transfers.preview(body)
 *     const signature = await signVote(vote, { id: keyId, privateKey })
 */
export async function signVote(vote: SignedVote['vote'], { id, privateKey }: ServiceSigningKey): Promise<SignedVote> {
  const { authority, decision, format, hash, person, signedAt, subject } = vote
  // All values are strings or null, and the names are in their order: this is the canonical form.
  const text = JSON.stringify({ authority, decision, format, hash, person, signedAt, subject })
  const bytes = await crypto.subtle.sign('Ed25519', privateKey, new TextEncoder().encode(text))
  const signature = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return { vote, keyId: id, signature: signature.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') }
}
