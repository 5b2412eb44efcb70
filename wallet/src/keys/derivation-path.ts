import { pathIndexCountMax, pathIndexMax } from '../limits.ts'

type PathFault = { fault: string }
export type ParsedPath = { coinType: number; indexes: number[] }

/**
 * Reads `m/44/<coinType>/<n>/<n>...`, the notation without hardening marks that Strongroom's routes use.
 * Returns a fault as data, because the caller decides which field it belongs to.
 */
export function parseDerivationPath(path: string): ParsedPath | PathFault {
  const [root, purpose, ...levels] = path.split('/')
  if (root !== 'm') return { fault: 'must start with m/' }
  if (purpose !== '44') return { fault: 'must have the purpose 44' }
  if (levels.length < 2) return { fault: 'must have a coin type and at least one index' }
  if (levels.length > pathIndexCountMax + 1) return { fault: `must have at most ${pathIndexCountMax} indexes` }
  const numbers: number[] = []
  for (const level of levels) {
    // One spelling per path: two spellings of the same key would be two addresses in the ledger.
    if (!/^(0|[1-9]\d{0,9})$/.test(level)) return { fault: 'must be whole numbers without leading zeros or marks' }
    const number = Number(level)
    if (number > pathIndexMax) return { fault: `has a number above ${pathIndexMax}` }
    numbers.push(number)
  }
  const [coinType, ...indexes] = numbers
  return { coinType: coinType!, indexes }
}

/**
 * The BIP-32 path of a parsed path: the first three levels are hardened and the others are not, as BIP-44 has it.
 * `m/44/60/0/0/0` becomes `m/44'/60'/0'/0/0`.
 */
export function toBip32Path({ coinType, indexes }: ParsedPath): string {
  const [account, ...rest] = indexes
  return [`m/44'/${coinType}'/${account}'`, ...rest].join('/')
}
