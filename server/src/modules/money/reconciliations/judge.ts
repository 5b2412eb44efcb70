import { differenceSettlesMinutes } from '../../../lib/limits.ts'

/** A difference at its last comparison; `announced` is the announced part of it. */
export type Seen = { difference: bigint; announced: bigint; firstSeenAt: Date; seenAt: Date }

/** The difference to store, null when nothing must be stored, and the difference to announce, null when nothing must be announced. */
type Judgement = { keep: Seen | null; announce: bigint | null }

/**
 * Judges a difference. It is announced when two comparisons agree on it, some time apart, because transfers in progress cause
 * differences for minutes. The common part of both comparisons is certain, so a loss that grows with every comparison is
 * neither new each time nor hidden. A difference is announced once, and again when more of it is certain.
 */
export function judge(seen: Seen | null, difference: bigint, now: Date): Judgement {
  if (difference === 0n) return { keep: null, announce: null }
  if (seen === null || seen.difference > 0n !== difference > 0n) {
    return { keep: { difference, announced: 0n, firstSeenAt: now, seenAt: now }, announce: null }
  }
  const settled = now.getTime() - seen.seenAt.getTime() >= differenceSettlesMinutes * 60_000
  if (!settled) return { keep: seen, announce: null }
  const certain = smaller(seen.difference, difference)
  const isNews = size(certain) > size(seen.announced)
  const announced = isNews ? certain : smaller(seen.announced, difference)
  return {
    keep: { difference, announced, firstSeenAt: seen.firstSeenAt, seenAt: now },
    announce: isNews ? certain : null,
  }
}

const size = (amount: bigint) => (amount < 0n ? -amount : amount)
const smaller = (a: bigint, b: bigint) => (size(a) < size(b) ? a : b)
