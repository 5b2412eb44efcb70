import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { badGateway, notFound } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { fingerprintOf, type SignedVote, type VotingKey } from '../../../lib/signed-vote.ts'
import type { AuthorityDocument } from '../../registry/wallet-service/answers.ts'
import { throwBadGateway } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { findVotingKey, type KeyElsewhere } from '../../rules/signatures/take.ts'
import { walletOfVault } from '../wallets/wallet-settings.ts'
import { getMark, noteAuthority, toMark } from './authority-mark.ts'
import type { VaultAuthority } from './schema.ts'

/**
 * Returns the authority by which the wallet service of a vault checks signatures. Its hash is computed from the
 * document, and a different hash in the answer is an error.
 * @throws 404 when the wallet service has none; 502 when it fails or answers something else
 */
export async function readAuthority(deps: Deps, vaultId: string): Promise<Static<typeof VaultAuthority>> {
  const found = await findAuthority(deps, vaultId)
  if (found === null) throw notFound('Authority')
  return { ...toAuthority(found), ...toMark(await getMark(deps.db, vaultId)) }
}

/**
 * Returns the document in force, or null when the wallet service has none.
 * @throws 502 as `readAuthority`
 */
export async function findAuthority(deps: Deps, vaultId: string): Promise<AuthorityDocument | null> {
  const wallet = await walletOfVault(deps, vaultId)
  return (await askAuthority(deps, wallet, vaultId).catch(throwBadGateway)).found
}

/**
 * Returns the authority that the wallet service shows. `isPresent` is true if it is the authority that was seen last or
 * one that follows.
 * @throws WalletServiceError, or 502 for a document that does not match its hash, version or vault
 */
export async function askAuthority(
  deps: Pick<Deps, 'db' | 'log' | 'clock'>,
  wallet: WalletClient,
  vaultId: string,
): Promise<{ found: AuthorityDocument | null; isPresent: boolean }> {
  const found = await wallet.findAuthority()
  if (found !== null && !isSound(found, vaultId)) throw badGateway('The wallet service returned an invalid answer')
  return { found, isPresent: await noteAuthority(deps, vaultId, found) }
}

type Version = Omit<AuthorityDocument, 'pending'>

/** Returns true if each version matches its hash, and the waiting version follows the one in force. */
function isSound(found: AuthorityDocument, vaultId: string): boolean {
  const { pending = null } = found
  if (!isItself(found, vaultId)) return false
  if (pending === null) return true
  const isNext = pending.version === found.version + 1 && pending.authority.previous === found.hash
  return isNext && isItself(pending, vaultId)
}

const isItself = ({ authority, version, hash }: Version, vaultId: string): boolean =>
  authority.vaultId === vaultId && authority.version === version && hashOf(authority) === hash

function hashOf(authority: object): string | null {
  try {
    return sha256(canonicalJson(authority)).toString('hex')
  } catch {
    return null
  }
}

/** The delay of an authority that does not state one: docs/signed-orders.md. */
const delayHoursOfFormat1 = 24

/** Returns only the documented properties, because the answer of a wallet service may hold more. */
function toAuthority({
  version,
  hash,
  authority,
  pending = null,
}: AuthorityDocument): Omit<Static<typeof VaultAuthority>, 'highest' | 'alarmSince'> {
  const { keys, groups, addresses, change, rules } = authority
  const { trustsServicePage = true, delayHours = delayHoursOfFormat1 } = authority
  return {
    version,
    hash,
    document: authority,
    trustsServicePage,
    delayHours,
    pending: pending && toPending(pending),
    votesToCancel: Math.max(1, change.votes - 1),
    keys: keys.map(({ id, person, name, kind, publicKey, rpId = null, origins = [] }) => {
      return { id, person, name, kind, fingerprint: fingerprintOf(Buffer.from(publicKey, 'base64url')), rpId, origins }
    }),
    groups: groups.map(({ id, persons }) => ({ id, persons })),
    addresses: addresses.map(({ network, address }) => ({ network, address })),
    change: { group: change.group, votes: change.votes },
    rules: rules.map(({ network, contractAddress, symbol = null, decimals = null, initiators, perDay, floors }) => ({
      network,
      contractAddress,
      symbol,
      decimals,
      initiators,
      perDay,
      floors: floors.map(({ above, to, group, votes }) => ({ above, to, group, votes })),
    })),
  }
}

function toPending({ version, hash, authority, inForceAt }: NonNullable<AuthorityDocument['pending']>) {
  const { trustsServicePage = true } = authority
  return { version, hash, inForceAt: new Date(inForceAt).toISOString(), trustsServicePage, document: authority }
}

type Key = AuthorityDocument['authority']['keys'][number]
type Passkey = Key & { rpId: string; origins: string[] }

/**
 * Returns the pages of the wallet service on which the member signs, according to the authority; empty for a vault without
 * protection.
 */
export async function listSigningPages(deps: Deps, member: Member): Promise<string[]> {
  const origins = (await listKeys(deps, member)).flatMap((key) => key.origins)
  return [...new Set(origins)].filter(isPage)
}

/** Returns true if an origin is a page. An authority may also name other origins, such as those of apps. */
const isPage = (origin: string): boolean =>
  /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin

/**
 * Returns a function that finds the key of a signed vote that only the authority names. The wallet service is asked
 * before the transaction, and only about a key that this service does not know. The function returns the key, or throws
 * the error of the wallet service.
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
 * Returns the passkeys that the authority names for the member, except those of this service's own pages. Those are
 * registered here by their person, who may remove them, so the authority cannot bring them back.
 */
async function listKeys(deps: Deps, { vault, userId }: Member): Promise<Passkey[]> {
  if (vault.protection === 'off') return []
  const publicOrigin = deps.publicOrigin()
  const { hostname } = new URL(publicOrigin)
  const isElsewhere = (key: Key): key is Passkey =>
    key.kind === 'passkey' &&
    key.rpId !== undefined &&
    key.rpId !== hostname &&
    key.origins?.includes(publicOrigin) === false
  const keys = (await findAuthority(deps, vault.id))?.authority.keys ?? []
  return keys.filter(isElsewhere).filter(({ person }) => person === userId)
}

const toVotingKey = ({ publicKey, rpId, origins }: Passkey): VotingKey => ({
  kind: 'passkey',
  publicKey: Buffer.from(publicKey, 'base64url'),
  rpId,
  origins,
})
