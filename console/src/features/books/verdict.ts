/** The verdict on a row of the reconciliation. Amounts are whole numbers in the smallest unit. */
export type Verdict = 'agrees' | 'fees' | 'unknown' | 'differs' | 'broken'
type Row = {
  sumOfPostings: string
  cached: string
  recomputed: string
  difference: string | null
  outstandingFees: string
}

/**
 * Returns the verdict on a row. Fees that were paid and are not in the books yet make the chain poorer by exactly that
 * amount.
 */
export function verdictOf({ sumOfPostings, cached, recomputed, difference, outstandingFees }: Row): Verdict {
  if (BigInt(sumOfPostings) !== 0n || BigInt(cached) !== BigInt(recomputed)) return 'broken'
  if (difference === null) return 'unknown'
  if (BigInt(difference) === 0n) return 'agrees'
  return BigInt(difference) === -BigInt(outstandingFees) ? 'fees' : 'differs'
}
