import { expectedOf } from '../signing/expected.ts'
import { type Authority, describeOrder, type Order, readAuthority } from '../signing/signing.ts'

/** Orders, an authority and altered answers for the tests of signing. */

export const tusd = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
/** A token that no authority names. */
export const unknownToken = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'
export const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export const authorityDocument = {
  format: 'strongroom-authority-2',
  vaultId: 'vault-1',
  version: 3,
  previous: 'ab'.repeat(32),
  trustsServicePage: false,
  delayHours: 24,
  keys: [],
  groups: [{ id: 'treasurers', persons: ['ada', 'ben'] }],
  contacts: [{ person: 'ada', email: 'ada@example.org' }],
  addresses: [{ network: 'ethereum', address: supplier }],
  change: { group: 'treasurers', votes: 2 },
  rules: [
    { network: 'ethereum', contractAddress: null, symbol: 'ETH', decimals: 18, initiators: 'treasurers', floors: [] },
    { network: 'ethereum', contractAddress: tusd, symbol: 'TUSD', decimals: 6, initiators: 'treasurers', floors: [] },
  ],
}
export const authorityOf = (part: object = {}): Promise<Authority> => readAuthority({ ...authorityDocument, ...part })

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** All orders expire at the same time, as the rows of a payout must. */
const end = inDays(3)

export const orderWith = (part: Partial<Order> = {}): Order => ({
  transferId: 'transfer-1',
  vaultId: 'vault-1',
  initiatorId: 'ada',
  fromAddressId: 'address-1',
  fromAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  network: 'ethereum',
  coinType: 60,
  derivationPath: 'm/44/60/1/0',
  toAddress: supplier,
  tokenId: 'token-1',
  contractAddress: null,
  amount: '100000000000000000',
  feeLevel: 'high',
  maxFee: '2000000000000000',
  rulesVersion: 7,
  expiresAt: end,
  ...part,
})

/**
 * Returns the order as a person expects it after a page has shown it with the symbols and decimals of the authority.
 */
export const expectedFor = (order: Order, authority: Authority | null) => ({
  ...expectedOf(describeOrder(order, authority)),
  authority,
})

export type Random = () => number

/** Returns a generator of numbers from 0 to 1 that follow from the seed. */
export function randomOf(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Leaf = { path: (string | number)[]; value: unknown }

/** Returns all values of an answer with their paths. Objects and non-empty lists are not values. */
export function leavesOf(value: unknown, path: Leaf['path'] = []): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.length === 0
    ? [{ path, value }]
    : entries.flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

/** Returns the answer with another value at a random place. `name` names the place and the value. */
export function mutated<Answer>(answer: Answer, random: Random): { answer: Answer; name: string } {
  const leaves = leavesOf(answer)
  const { path, value } = leaves[Math.floor(random() * leaves.length)]!
  const choices = othersThan(value)
  const chosen = choices[Math.floor(random() * choices.length)]
  return { answer: replaced(answer, path, chosen) as Answer, name: `${path.join('.')}: ${value} → ${String(chosen)}` }
}

function replaced(value: unknown, [name, ...rest]: Leaf['path'], by: unknown): unknown {
  if (name === undefined) return by
  if (Array.isArray(value)) return value.map((item, i) => (i === name ? replaced(item, rest, by) : item))
  const copy = { ...(value as Record<string, unknown>) }
  if (rest.length === 0 && by === undefined) delete copy[name]
  else copy[name] = replaced(copy[name], rest, by)
  return copy
}

const addresses = [unknownToken, tusd, '0xdAC17F958D2ee523a2206206994597C13D831ec7']

/**
 * Returns the values that an attacker might answer instead: amounts in other scales, other addresses, other ends, no
 * value.
 */
function othersThan(value: unknown): unknown[] {
  const others: unknown[] = [undefined, null]
  if (typeof value === 'number') others.push(value + 1, value * 1_000, 0, -1, 6, 18, String(value))
  if (typeof value === 'boolean') others.push(!value)
  if (typeof value === 'string') others.push(...textsOtherThan(value))
  if (value === null) others.push(...addresses, '1')
  return others.filter((other) => other !== value)
}

function textsOtherThan(text: string): string[] {
  const others = ['', 'x', `${text}x`, `${text} `, text.toUpperCase(), 'low', 'polygon']
  if (/^0x/.test(text))
    others.push(...addresses, text.toLowerCase(), `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`)
  if (/^\d+$/.test(text))
    others.push(`${text}000`, `${text}0`, text.slice(0, -1), String(BigInt(text) + 1n), `0${text}`)
  if (/^\d+\.\d+$/.test(text)) others.push(text.replace('.', ''), `1${text}`)
  if (/^\d{4}-.*Z$/.test(text)) others.push('9999-12-31T00:00:00.000Z', inDays(20), inDays(-1), '2026-12-31')
  return others
}
