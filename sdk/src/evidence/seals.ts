import { canonicalJson } from '../signing/canonical.ts'
import { type Bytes, digest, fromHex, isSignature, sha256, toHex, utf8 } from './bytes.ts'
import type { AuditSeal, LedgerEntry, LedgerSeal, SealHead } from './evidence.ts'

/** Seals of the audit log and of the ledger: signed roots of Merkle trees after RFC 6962 (docs/audit.md). */

/** `isSigned` is null for a seal from before seals were signed, and if this platform does not know Ed25519. */
export type CheckedSeal = { isSound: boolean; isSigned: boolean | null }

/** Checks all parts of a seal of the audit log: its hash, its root, its key and its signature. */
export async function checkAuditSeal(chain: string, seal: AuditSeal): Promise<CheckedSeal> {
  const { sequence, previousHash, sealedAt, records } = seal
  if (isUnsigned(seal)) {
    const listed = records.map(({ id, hash }) => ({ id, hash }))
    const text = canonicalJson({ chain, sequence, previousHash, sealedAt, records: listed })
    return { isSound: (await sha256(text)) === seal.hash, isSigned: null }
  }
  const root = toHex(await rootOf(await Promise.all(records.map(hashOfLeaf))))
  return checkHead(chain, 'audit', seal, { root, size: records.length })
}

/** Checks a seal of the ledger. The proof of an entry shows that the root contains the entry. */
export async function checkLedgerSeal(chain: string, seal: LedgerSeal): Promise<CheckedSeal> {
  return checkHead(chain, 'ledger', seal, { root: String(seal.root), size: seal.size })
}

/** A seal of a chain: with the number of its leaves, or, from before seals were signed, with its records. */
export type ChainedSeal = LedgerSeal | AuditSeal

/**
 * Checks a seal by itself, without the records or entries that it holds: its hash, its key and its signature.
 *
 * @param chain id of the vault, or `platform`
 */
export async function checkChainedSeal(
  chain: string,
  log: 'audit' | 'ledger',
  seal: ChainedSeal,
): Promise<CheckedSeal> {
  if (log === 'audit' && 'records' in seal) return checkAuditSeal(chain, seal)
  return checkHead(chain, log, seal, { root: String(seal.root), size: (seal as LedgerSeal).size })
}

const isUnsigned = ({ root, keyId, publicKey, signature }: SealHead): boolean =>
  [root, keyId, publicKey, signature].every((part) => part === null || part === undefined)

async function checkHead(
  chain: string,
  log: 'audit' | 'ledger',
  seal: SealHead,
  { root, size }: { root: string; size: number },
): Promise<CheckedSeal> {
  const { sequence, previousHash, sealedAt, keyId } = seal
  const text = canonicalJson({ chain, keyId, log, previousHash, root, sealedAt, sequence, size })
  const publicKey = fromHex(String(seal.publicKey))
  const isKeyNamed = toHex(await digest(publicKey)).slice(0, 32) === keyId
  const isSound = seal.root === root && (await sha256(text)) === seal.hash && isKeyNamed
  const signature = fromHex(String(seal.signature))
  const isSigned =
    publicKey.length === 32 ? await isSignature(publicKey, signature, utf8(`strongroom-seal-1:${seal.hash}`)) : false
  return { isSound: isSound && isSigned !== false, isSigned }
}

const hashOfLeaf = ({ id, hash }: { id: string; hash: string }): Promise<Bytes> =>
  digest(Uint8Array.of(0, ...utf8(canonicalJson({ hash, id }))))

const hashOfNode = (left: Bytes, right: Bytes): Promise<Bytes> => digest(Uint8Array.of(1, ...left, ...right))

async function rootOf(leaves: Bytes[]): Promise<Bytes> {
  let row = leaves
  while (row.length > 1) {
    const below = row
    const lefts = below.filter((_, index) => index % 2 === 0)
    row = await Promise.all(
      lefts.map((left, index) => {
        const right = below[2 * index + 1]
        return right === undefined ? left : hashOfNode(left, right)
      }),
    )
  }
  return row[0] ?? digest(utf8(''))
}

/** Returns the root that follows from an entry and its proof, or null if the proof does not fit a tree of this size. */
export async function rootFromProof(
  { sequence, hash, proof }: Pick<LedgerEntry, 'sequence' | 'hash' | 'proof'>,
  size: number,
): Promise<string | null> {
  if (proof === null || proof === undefined || !Number.isSafeInteger(proof.index) || !Number.isSafeInteger(size))
    return null
  if (proof.index < 0 || proof.index >= size) return null
  const rest = proof.path.map(fromHex)
  let node = await hashOfLeaf({ id: sequence, hash: String(hash) })
  for (let at = proof.index, width = size; width > 1; at = Math.floor(at / 2), width = Math.ceil(width / 2)) {
    if (at % 2 === 0 && at === width - 1) continue
    const neighbour = rest.shift()
    if (neighbour?.length !== 32) return null
    node = await (at % 2 === 0 ? hashOfNode(node, neighbour) : hashOfNode(neighbour, node))
  }
  return rest.length === 0 ? toHex(node) : null
}
