import { randomBytes } from 'node:crypto'

/** The form of every identifier: `c`, the millisecond clock in base 36 (8 digits until 2059), 16 random base-36 digits. */
export const idPattern = '^c[0-9a-z]{24}$'

const digits = '0123456789abcdefghijklmnopqrstuvwxyz'

/** Returns a new identifier. It sorts by creation time and is not a secret (contract 1.1). */
export function newId(now: Date = new Date()): string {
  let id = leastIdAt(now)
  while (id.length < 25) {
    const byte = randomByte()
    // 252 = 7 * 36: bytes of 252 and above would favour the first digits.
    if (byte < 252) id += digits[byte % 36]
  }
  return id
}

/** Returns the least text of an identifier made at this time: every earlier identifier is less, and no later identifier is. */
export const leastIdAt = (time: Date): string => `c${time.getTime().toString(36).padStart(8, '0')}`

let stock = Buffer.alloc(0)
let taken = 0

/**
 * Returns a random byte. Bytes are drawn in advance: to ask the system for the few bytes of each identifier costs ten times the
 * rest of the work.
 */
function randomByte(): number {
  if (taken === stock.length) {
    stock = randomBytes(4_096)
    taken = 0
  }
  return stock[taken++]!
}

/** Returns the identifier of a row that a sequence counts: unique by the sequence, sorted like every other id. */
export function idOfSequence(createdAt: Date, sequence: bigint): string {
  return `${leastIdAt(createdAt)}${sequence.toString(36).padStart(16, '0')}`
}

/** Returns the sequence within an identifier made by `idOfSequence`. */
export function sequenceOfId(id: string): bigint {
  let sequence = 0n
  for (const digit of id.slice(9)) sequence = sequence * 36n + BigInt(digits.indexOf(digit))
  return sequence
}
