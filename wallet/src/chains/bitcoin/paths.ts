import type { ParsedPath } from '../../keys/derivation-path.ts'

/** Returns the BIP-84 path of a derivation path: `m/44/2/0/7` is `m/84'/2'/0'/7`. The first three levels are hardened. */
export function toBip84Path({ coinType, indexes }: ParsedPath): string {
  const [account, ...rest] = indexes
  return [`m/84'/${coinType}'/${account}'`, ...rest].join('/')
}

/** The public key of the account of a path, and the fingerprint of the root. */
type AccountKey = { xpub: string; fingerprint: number }

/**
 * Returns the output descriptor (BIP-380) of the keys below an account, with which a standard wallet restores them:
 * `wpkh([fingerprint/84h/2h/0h]xpub…/0/*)#checksum` for the addresses `m/44/2/0/0/…`. The last index is left to the wallet
 * that reads the descriptor; the descriptor of an account without further indexes has the key of the account itself.
 */
export function descriptorOf({ xpub, fingerprint }: AccountKey, { coinType, indexes }: ParsedPath): string {
  const [account, ...rest] = indexes
  const below = rest.length === 0 ? [] : [...rest.slice(0, -1), '*']
  const origin = `${fingerprint.toString(16).padStart(8, '0')}/84h/${coinType}h/${account}h`
  const text = `wpkh([${origin}]${[xpub, ...below].join('/')})`
  return `${text}#${checksumOf(text)}`
}

const characters =
  "0123456789()[],'/*abcdefgh@:$%{}" + 'IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~' + 'ijklmnopqrstuvwxyzABCDEFGH`#"\\ '
const checksumCharacters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const generator = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn]

/** Returns the checksum of a descriptor (BIP-380). */
export function checksumOf(descriptor: string): string {
  let state = 1n
  let group = 0
  const positions = [...descriptor].map((character) => characters.indexOf(character))
  if (positions.includes(-1)) throw new Error('the descriptor has a character that BIP-380 does not permit')
  positions.forEach((position, at) => {
    state = step(state, position & 31)
    group = group * 3 + (position >> 5)
    const isComplete = at % 3 === 2
    if (isComplete || at === positions.length - 1) {
      state = step(state, group)
      group = 0
    }
  })
  for (let count = 0; count < 8; count += 1) state = step(state, 0)
  state ^= 1n
  return Array.from({ length: 8 }, (_, at) => checksumCharacters[Number((state >> BigInt(5 * (7 - at))) & 31n)]).join(
    '',
  )
}

function step(state: bigint, value: number): bigint {
  const top = state >> 35n
  let next = ((state & 0x7ffffffffn) << 5n) ^ BigInt(value)
  generator.forEach((term, bit) => {
    if ((top >> BigInt(bit)) & 1n) next ^= term
  })
  return next
}
