/** Accounts of an address that hold a balance; the vault-level ones (external, adjustment) are the other side. */
export type AddressPurpose = 'available' | 'reserved'

/** Of each kind of entry the account that decreases and the one that increases; null: the vault-level account. */
const sides = {
  deposit: { debit: null, credit: 'available' },
  /** A transfer is created, and then confirmed; or it has failed, or was rejected or cancelled, or has expired. */
  reserve: { debit: 'available', credit: 'reserved' },
  settle: { debit: 'reserved', credit: null },
  release: { debit: 'reserved', credit: 'available' },
  /** A network fee that the address paid, in the native coin. */
  fee: { debit: 'available', credit: null },
  adjust: { debit: null, credit: 'available' },
  /** A deposit is held, as far as it is available, and its hold is released. The operation is the hold. */
  hold: { debit: 'available', credit: 'reserved' },
  hold_release: { debit: 'reserved', credit: 'available' },
  /** A deposit that was credited with another amount than the chain has. */
  correct: { debit: null, credit: 'available' },
  /** What was credited for a deposit that the chain lost, as far as it is available; and the deposit that came back, whole. */
  orphan: { debit: 'available', credit: null },
  orphan_return: { debit: null, credit: 'available' },
  /** What became available covers an exposure. */
  cover: { debit: 'available', credit: null },
} as const satisfies Record<string, { debit: AddressPurpose | null; credit: AddressPurpose | null }>

export type EntryKind = keyof typeof sides
export const entryKinds = Object.keys(sides) as EntryKind[]
/** The kinds of entries that decrease what is reserved, and those that increase it; all others concern what is available. */
export const reservedKinds = {
  debit: entryKinds.filter((kind) => sides[kind].debit === 'reserved'),
  credit: entryKinds.filter((kind) => sides[kind].credit === 'reserved'),
}

type Subject = {
  vaultId: string
  tokenId: string
  addressId: string
  /** The operation, adjustment, hold, orphaning or cover it belongs to, which has at most one entry of each kind. */
  operationId: string
  amount: bigint
}

/**
 * One movement of `amount` (raw smallest units, above 0) between two accounts of the same vault and token. A null side
 * is the vault-level account: `adjustment` for the kind adjust, else `external`. Every posting sums to zero by construction.
 */
export type Posting = Subject & { kind: EntryKind; debit: AddressPurpose | null; credit: AddressPurpose | null }

export function posting(kind: EntryKind, subject: Subject): Posting {
  if (subject.amount <= 0n) throw new RangeError(`A posting moves more than 0, not ${subject.amount}`)
  return { ...subject, kind, ...sides[kind] }
}

/** What changes a balance by a signed amount: a negative one moves back. */
export function signedPosting(kind: 'adjust' | 'correct', subject: Subject): Posting {
  if (subject.amount > 0n) return posting(kind, subject)
  const { debit, credit, ...moved } = posting(kind, { ...subject, amount: -subject.amount })
  return { ...moved, debit: credit, credit: debit }
}
