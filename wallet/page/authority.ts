import { type Authority, hashOf } from '../../sdk/src/signing/signing.ts'

/** An authority, as the wallet service has checked its form. Format 1 has none of the optional fields. */
export interface FullAuthority {
  format: string
  vaultId: string
  version: number
  previous: string | null
  keys: Key[]
  groups: { id: string; persons: string[] }[]
  addresses: { network: string; address: string }[]
  change: { group: string; votes: number }
  rules: Rule[]
  trustsServicePage?: boolean
  delayHours?: number
  contacts?: { person: string; email: string }[]
}

export interface Key {
  id: string
  person: string
  name: string
  kind: 'passkey' | 'service'
  publicKey: string
  rpId?: string
  origins?: string[]
}

export interface Rule {
  network: string
  contractAddress: string | null
  symbol?: string
  decimals?: number
  initiators: string
  perDay: string | null
  floors: { above: string; to: 'any' | 'unlisted'; group: string; votes: number }[]
}

/** The version in force, and the signed version that waits, if there is one. */
export interface InForce {
  authority: Authority
  document: FullAuthority
  pending: { hash: string; inForceAt: string } | null
}

/** The answer of this wallet service, or the reason for which nothing can be signed. */
export type Said = InForce | { fault: string }

const unsaid = 'The wallet service did not say which of its rules applies, so nothing can be signed.'
const outdated =
  'Another version of the authority is in force than the console says. Reload the console, and begin again.'
const unreadable = 'The wallet service cannot read this document.'

/**
 * Asks the wallet service for the authority in force, which it shows to those who know its hash, and whether it can read the next
 * version.
 */
export async function askAuthority(vaultId: string, hash: string, next?: object): Promise<Said> {
  try {
    const body = JSON.stringify({ vaultId, hash, ...(next === undefined ? {} : { next }) })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch('/sign/authority', { method: 'POST', body, headers })
    if (answer.status === 409) return { fault: outdated }
    if (answer.status === 400) return { fault: unreadable }
    if (!answer.ok) return { fault: unsaid }
    const { authority: document, pending } = (await answer.json()) as { authority: FullAuthority } & Pick<
      InForce,
      'pending'
    >
    if ((await hashOf(document)) !== hash) return { fault: unsaid }
    return { authority: { document, hash }, document, pending }
  } catch {
    return { fault: unsaid }
  }
}
