import { createPrivateKey, createPublicKey, ECDH, sign } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { HDKey } from '@scure/bip32'
import { signedTextOf } from '../lib/account-key.ts'
import { parseOnchainAddress } from '../lib/onchain-address.ts'
import { sha256 } from '../lib/secrets.ts'

export type FakeKeys = {
  /** Returns the answer of GET /xpub. The test may replace the honest `xpub`, which is then signed. */
  show(
    network: string,
    derivationPath: string,
    challenge: string,
    xpub?: string,
  ): { xpub: string; key: string; signature: string }
  address(derivationPath: string): string
}

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
      .reduce((node, level, index) => node.deriveChild(Number(level) + (index < 3 ? 2 ** 31 : 0)), root)
  const signer = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), sha256(`signs ${signedBy}`)]),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    show(network, derivationPath, challenge, xpub = nodeAt(derivationPath).publicExtendedKey) {
      const text = signedTextOf({ network, derivationPath, xpub, challenge })
      return {
        xpub,
        key: createPublicKey(signer).export({ format: 'der', type: 'spki' }).toString('base64url'),
        signature: sign(null, Buffer.from(text), signer).toString('base64url'),
      }
    },
    address(derivationPath) {
      const pair = ECDH.convertKey(nodeAt(derivationPath).publicKey!, 'secp256k1', undefined, undefined, 'uncompressed')
      const hash = Buffer.from(keccak_256((pair as Buffer).subarray(1)))
      return parseOnchainAddress(`0x${hash.subarray(-20).toString('hex')}`, 'evm')!.address
    },
  }
}
