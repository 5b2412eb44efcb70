import { createPrivateKey, createPublicKey, ECDH, sign } from 'node:crypto'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bech32 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { signedTextOf } from '../lib/account-key.ts'
import { parseOnchainAddress } from '../lib/onchain-address.ts'
import { sha256 } from '../lib/secrets.ts'

export type FakeKeys = {
  /** Returns the answer of GET /xpub. The test may replace the honest `xpub` and `script`, which are then signed. */
  show(
    network: string,
    derivationPath: string,
    challenge: string,
    xpub?: string,
    script?: string | null,
  ): { xpub: string; key: string; signature: string; script: string | null }
  address(derivationPath: string): string
}

/** The networks of these coin types have addresses of BIP-84. */
const prefixes: Record<string, string> = { 0: 'bc', 2: 'ltc' }
const prefixOf = (path: string) => prefixes[path.split('/')[2]!]
const isWitness = (path: string) => prefixOf(path) !== undefined

/**
 * Returns the keys of a wallet service by a seed. With `signedBy`, another wallet service signs the shown keys. They are
 * derived from private keys.
 */
export function fakeKeysOf(seed: string, { signedBy = seed }: { signedBy?: string } = {}): FakeKeys {
  const root = HDKey.fromMasterSeed(sha256(seed))
  const nodeAt = (path: string) =>
    path
      .split('/')
      .slice(1)
      .with(0, isWitness(path) ? '84' : '44')
      .reduce((node, level, index) => node.deriveChild(Number(level) + (index < 3 ? 2 ** 31 : 0)), root)
  const signer = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), sha256(`signs ${signedBy}`)]),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    show(
      network,
      derivationPath,
      challenge,
      xpub = nodeAt(derivationPath).publicExtendedKey,
      script = isWitness(derivationPath) ? 'p2wpkh' : null,
    ) {
      const text = signedTextOf({ network, derivationPath, script, xpub, challenge })
      return {
        script,
        xpub,
        key: createPublicKey(signer).export({ format: 'der', type: 'spki' }).toString('base64url'),
        signature: sign(null, Buffer.from(text), signer).toString('base64url'),
      }
    },
    address(derivationPath) {
      const prefix = prefixOf(derivationPath)
      const { publicKey } = nodeAt(derivationPath)
      if (prefix !== undefined) return bech32.encode(prefix, [0, ...bech32.toWords(ripemd160(sha256(publicKey!)))])
      const pair = ECDH.convertKey(publicKey!, 'secp256k1', undefined, undefined, 'uncompressed')
      const hash = Buffer.from(keccak_256((pair as Buffer).subarray(1)))
      return parseOnchainAddress(`0x${hash.subarray(-20).toString('hex')}`, 'evm')!.address
    },
  }
}
