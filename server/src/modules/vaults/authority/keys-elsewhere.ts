import type { Member } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import type { SignedVote, VotingKey } from '../../../lib/signed-vote.ts'
import type { AuthorityDocument } from '../../registry/wallet-service/answers.ts'
import { findVotingKey } from '../../rules/signatures/queries.ts'
import type { KeyElsewhere } from '../../rules/signatures/take.ts'
import { findAuthority } from './authority.ts'

type Key = AuthorityDocument['authority']['keys'][number]
type Passkey = Key & { rpId: string; origins: string[] }

/** The pages of the wallet service on which the authority has the member sign; none in a vault without protection. */
export async function listSigningPages(deps: Deps, member: Member): Promise<string[]> {
  const origins = (await listKeys(deps, member)).flatMap((key) => key.origins)
  return [...new Set(origins)].filter(isPage)
}

/** An authority may name origins that are no pages, such as those of apps. */
const isPage = (origin: string): boolean =>
  /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin

/**
 * The key of a signed vote, if only the authority names it. The wallet service is asked before the transaction, and only about a
 * key that this service does not know. What it answered counts, or is thrown, where a key is looked for.
 */
export async function findKeyElsewhere(
  deps: Deps,
  member: Member,
  signed: SignedVote | undefined,
): Promise<KeyElsewhere> {
  if (signed === undefined || member.vault.protection === 'off') return () => null
  const { keyId } = signed
  const known = await findVotingKey(
    deps.db,
    { vaultId: member.vault.id, userId: member.userId, keyId },
    deps.publicOrigin(),
  )
  if (known !== null) return () => null
  try {
    const key = (await listKeys(deps, member)).find(({ id }) => id === keyId)
    return () => (key === undefined ? null : toVotingKey(key))
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/**
 * A passkey of this service's own pages is registered here by its person, who may remove it: what the authority says of one
 * does not bring it back.
 */
async function listKeys(deps: Deps, { vault, userId }: Member): Promise<Passkey[]> {
  if (vault.protection === 'off') return []
  const own = deps.publicOrigin()
  const { hostname } = new URL(own)
  const isElsewhere = (key: Key): key is Passkey =>
    key.kind === 'passkey' && key.rpId !== undefined && key.rpId !== hostname && key.origins?.includes(own) === false
  const keys = (await findAuthority(deps, vault.id))?.authority.keys ?? []
  return keys.filter(isElsewhere).filter(({ person }) => person === userId)
}

const toVotingKey = ({ publicKey, rpId, origins }: Passkey): VotingKey => ({
  kind: 'passkey',
  publicKey: Buffer.from(publicKey, 'base64url'),
  rpId,
  origins,
})
