import { expect, it } from 'vitest'
import { addressBelow } from '../server/src/lib/account-key.ts'
import { leastAmountTo } from '../server/src/lib/dust.ts'
import { addressOf, dustOf, readAddress } from '../wallet/src/chains/bitcoin/addresses.ts'
import { bitcoin, litecoin } from '../wallet/src/chains/bitcoin/parameters.ts'
import { toBip84Path } from '../wallet/src/chains/bitcoin/paths.ts'
import { accountOf } from '../wallet/src/chains/evm/account.ts'
import { type ParsedPath, toBip32Path } from '../wallet/src/keys/derivation-path.ts'
import { rootOf } from '../wallet/src/keys/keyring.ts'

/** The service derives from the public key of an account what the wallet service derives from private keys. */
const root = await rootOf(
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
)

type Node = typeof root

const families = [
  {
    type: 'evm' as const,
    script: null,
    coinType: 60,
    pathOf: toBip32Path,
    addressOfNode: ({ privateKey }: Node) => accountOf(privateKey!).address.toLowerCase(),
  },
  ...[bitcoin, litecoin].map((parameters) => ({
    type: parameters.type,
    script: 'p2wpkh',
    coinType: parameters.coinType,
    pathOf: toBip84Path,
    addressOfNode: ({ publicKey }: Node) => addressOf(publicKey!, parameters),
  })),
]

it.each(families)('1,000 addresses of $type are those of the wallet service', (family) => {
  const { type, script, coinType, pathOf, addressOfNode } = family
  for (let account = 0; account < 10; account += 1) {
    const ofAccount: ParsedPath = { coinType, indexes: [account * 104_729] }
    const key = {
      network: type,
      type,
      script,
      derivationPath: `m/44/${coinType}/${ofAccount.indexes[0]}`,
      xpub: root.derive(pathOf(ofAccount)).publicExtendedKey,
      challenge: '',
      signature: '',
    }
    // The last level is derived from its parent, because each level from the root costs a multiplication on the curve.
    const parent = root.derive(pathOf({ coinType, indexes: [...ofAccount.indexes, account] }))
    for (let at = 0; at < 100; at += 1) {
      const index = (at * 21_474_836) % 2 ** 31
      const path = `${key.derivationPath}/${account}/${index}`
      expect(addressBelow(key, path), path).toBe(addressOfNode(parent.deriveChild(index)))
    }
  }
})

it.each([
  [bitcoin, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  [bitcoin, 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'],
  [bitcoin, 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  [bitcoin, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  [bitcoin, '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
  [litecoin, 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  [litecoin, 'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQF'],
  [litecoin, 'MVDCJxZd4A5VUm81QmeC1qf6U7LASsr7LT'],
])('the least amount is that of the wallet service: $0.type $1', (parameters, text) => {
  const { address, script } = readAddress(text, parameters)!
  expect(leastAmountTo(address, parameters.type)).toBe(dustOf(script, parameters))
})
