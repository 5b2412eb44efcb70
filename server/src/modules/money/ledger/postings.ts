/** Accounts of an address that hold a balance; the vault-level ones (external, adjustment) are the other side. */
export type AddressPurpose = 'available' | 'reserved'
export const entryKinds = [
  'deposit',
  'reserve',
  'settle',
  'release',
  'fee',
  'adjust',
  'hold',
  'hold_release',
  'correct',
  'orphan',
  'orphan_return',
  'cover',
] as const
export type EntryKind = (typeof entryKinds)[number]

/**
 * One movement of `amount` (raw smallest units, above 0) between two accounts of the same vault and token. A null side
 * is the vault-level account: `adjustment` for the kind adjust, else `external`. Every posting sums to zero by construction.
 */
export type Posting = {
  vaultId: string
  tokenId: string
  addressId: string
  kind: EntryKind
  /** The operation, adjustment, hold, orphaning or cover it belongs to, which has at most one entry of each kind. */
  operationId: string
  debit: AddressPurpose | null
  credit: AddressPurpose | null
  amount: bigint
}

type Subject = { vaultId: string; tokenId: string; addressId: string; operationId: string; amount: bigint }

/** Deposit: external → available. */
export function depositPosting(subject: Subject): Posting {
  return posting(subject, 'deposit', null, 'available')
}

/** Transfer created: available → reserved. */
export function reservePosting(subject: Subject): Posting {
  return posting(subject, 'reserve', 'available', 'reserved')
}

/** Transfer confirmed: reserved → external. */
export function settlePosting(subject: Subject): Posting {
  return posting(subject, 'settle', 'reserved', null)
}

/** Transfer failed, rejected, cancelled or expired: reserved → available. */
export function releasePosting(subject: Subject): Posting {
  return posting(subject, 'release', 'reserved', 'available')
}

/** Deposit held, as far as it is available: available → reserved. The operation is the hold. */
export function holdPosting(subject: Subject): Posting {
  return posting(subject, 'hold', 'available', 'reserved')
}

/** Hold of a deposit released: reserved → available. The operation is the hold. */
export function holdReleasePosting(subject: Subject): Posting {
  return posting(subject, 'hold_release', 'reserved', 'available')
}

/** Network fee that the address paid: available (native coin) → external. */
export function feePosting(subject: Subject): Posting {
  return posting(subject, 'fee', 'available', null)
}

/** Adjustment: adjustment → available for a positive signed amount, back for a negative one. */
export function adjustmentPosting(subject: Subject): Posting {
  const isIncrease = subject.amount > 0n
  const magnitude = { ...subject, amount: isIncrease ? subject.amount : -subject.amount }
  return isIncrease ? posting(magnitude, 'adjust', null, 'available') : posting(magnitude, 'adjust', 'available', null)
}

/** A deposit that was credited with another amount than the chain has: external → available, or back. */
export function correctionPosting(subject: Subject): Posting {
  const isIncrease = subject.amount > 0n
  const magnitude = { ...subject, amount: isIncrease ? subject.amount : -subject.amount }
  return isIncrease
    ? posting(magnitude, 'correct', null, 'available')
    : posting(magnitude, 'correct', 'available', null)
}

/** What was credited for a deposit that the chain lost, as far as it is available: available → external. */
export function orphanPosting(subject: Subject): Posting {
  return posting(subject, 'orphan', 'available', null)
}

/** An orphaned deposit that came back, whole: external → available. */
export function orphanReturnPosting(subject: Subject): Posting {
  return posting(subject, 'orphan_return', null, 'available')
}

/** What became available covers an exposure: available → external. */
export function coverPosting(subject: Subject): Posting {
  return posting(subject, 'cover', 'available', null)
}

function posting(
  subject: Subject,
  kind: EntryKind,
  debit: AddressPurpose | null,
  credit: AddressPurpose | null,
): Posting {
  if (subject.amount <= 0n) throw new RangeError(`A posting moves more than 0, not ${subject.amount}`)
  return { ...subject, kind, debit, credit }
}
