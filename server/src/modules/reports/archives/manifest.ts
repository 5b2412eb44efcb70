import { canonicalJson } from '../../../lib/canonical-json.ts'
import { isSignedByKey, keyIdOf, type SealKey, signedText } from '../../../lib/seal-key.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { Head } from '../../record/seals/queries.ts'

/** The last two members of an archive. The manifest holds the SHA-256 of the sums, and the sums those of all other members. */
export const sumsName = 'SHA256SUMS'
export const manifestName = 'manifest.json'
/** The members that are checked by their content, too. */
export const verificationName = 'verification.json'
export const evidenceFolder = 'evidence/'
export const sealsName = (log: Head['log']) => `seals/${log}.jsonl`

const manifestType = 'strongroom.archive'

/** The statement about an archive that the service signs. Times are ISO 8601 in UTC, hashes and the key in hexadecimal digits. */
export type Manifest = {
  type: typeof manifestType
  version: 1
  /** The id of the export. */
  id: string
  vault: { id: string; code: string; name: string }
  /** The period contains `from` and not `to`. `hasEnded` is false if it ended after `madeAt`. */
  period: { from: string; to: string; timezone: string; hasEnded: boolean }
  madeAt: string
  madeFor: { userId: string; email: string | null }
  accounts: number
  transfers: number
  /** The number of differences that the service found in the vault. */
  findings: number
  /** The newest seal of the vault in the audit log and in the ledger, if there is one: the last of the seals in the archive. */
  heads: Head[]
  sums: { members: number; sha256: string }
  keyId: string
  publicKey: string
  /** The signature over the SHA-256 of the canonical JSON of the other properties. */
  signature: string
}

type ManifestContent = Omit<Manifest, 'type' | 'version' | 'keyId' | 'publicKey' | 'signature'>

/** Signs archives with the key of the node. `sign` takes the SHA-256 that the signature binds. */
export type Signer = Pick<SealKey, 'keyId' | 'publicKey'> & { sign(hash: Buffer): Buffer | Promise<Buffer> }

export function signerOf(key: SealKey): Signer {
  const { keyId, publicKey } = key
  return { keyId, publicKey, sign: (hash) => key.sign(signedText('archive', hash)) }
}

/** Returns the text of the member `manifest.json`. */
export async function writeManifest(content: ManifestContent, signer: Signer): Promise<string> {
  const { keyId, publicKey } = signer
  const unsigned = {
    type: manifestType as typeof manifestType,
    version: 1 as const,
    ...content,
    keyId,
    publicKey: publicKey.toString('hex'),
  }
  const signature = await signer.sign(hashOf(unsigned))
  return toText({ ...unsigned, signature: signature.toString('hex') })
}

/** Reads the member `manifest.json`. Returns null for a text that `writeManifest` does not write. */
export function readManifest(text: string): Manifest | null {
  try {
    const manifest = JSON.parse(text) as Manifest
    const isKnown = manifest.type === manifestType && manifest.version === 1
    return isKnown && toText(manifest) === text && hasForm(manifest) ? manifest : null
  } catch {
    return null
  }
}

/** Returns true if the key that the manifest names signed it. */
export function isSigned({ signature, ...unsigned }: Manifest): boolean {
  const key = Buffer.from(unsigned.publicKey, 'hex')
  return (
    keyIdOf(key) === unsigned.keyId &&
    isSignedByKey(key, signedText('archive', hashOf(unsigned)), Buffer.from(signature, 'hex'))
  )
}

const toText = (manifest: Manifest) => `${JSON.stringify(manifest, null, 2)}\n`
const hashOf = (unsigned: Omit<Manifest, 'signature'>) => sha256(canonicalJson(unsigned))

/** Checks the members that a reader uses. An archive may come from a stranger. */
function hasForm({ id, vault, period, madeAt, madeFor, heads, sums, ...rest }: Manifest): boolean {
  const texts = [id, vault.id, vault.code, vault.name, period.from, period.to, period.timezone, madeAt, madeFor.userId]
  const numbers = [rest.accounts, rest.transfers, rest.findings, sums.members, ...heads.map(({ sequence }) => sequence)]
  return (
    [...texts, rest.keyId, rest.publicKey, rest.signature, sums.sha256].every((text) => typeof text === 'string') &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0) &&
    typeof period.hasEnded === 'boolean' &&
    heads.every(({ log, chain, hash }) => ['audit', 'ledger'].includes(log) && chain === vault.id && hash.length === 64)
  )
}
