import type { Sight } from './queries.ts'

/**
 * Whether somebody who sees `now` still sees all that a file was made from: who is no administrator any more, has left a
 * group, or is no longer shared an address, could read in the file what they may not read elsewhere.
 */
export function seesAllOf(made: Sight, now: Sight): boolean {
  if (made.seen_whole_vault === null || (made.seen_whole_vault && now.seen_whole_vault !== true)) return false
  const isWithin = (before: string[] | null, after: string[] | null) => {
    const known = new Set(after)
    return (before ?? []).every((id) => known.has(id))
  }
  const seesShared = now.seen_whole_vault === true || isWithin(made.seen_shared_ids, now.seen_shared_ids)
  return seesShared && isWithin(made.seen_group_ids, now.seen_group_ids)
}
