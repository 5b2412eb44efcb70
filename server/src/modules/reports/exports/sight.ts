import type { Sight } from './queries.ts'

/**
 * Whether somebody who sees `now` still sees all that a file was made from: who is no administrator any more, has left a
 * group, is no longer shared an address, or no longer reads a category, could read in the file what they may not read
 * elsewhere.
 */
export function seesAllOf(made: Sight, now: Sight): boolean {
  if (made.seen_whole_vault === null) return false
  if (now.seen_whole_vault === true) return true
  const isWithin = (before: string[] | null, after: string[] | null) => {
    const known = new Set(after)
    return (before ?? []).every((id) => known.has(id))
  }
  return (
    !made.seen_whole_vault &&
    isWithin(made.seen_group_ids, now.seen_group_ids) &&
    isWithin(made.seen_shared_ids, now.seen_shared_ids) &&
    isWithin(made.seen_category_rights, now.seen_category_rights)
  )
}

/** What was seen at one of two moments, or at both: all that may have been read between them. */
export function eitherSight(first: Sight, second: Sight): Sight {
  const either = (a: string[] | null, b: string[] | null) => [...new Set([...(a ?? []), ...(b ?? [])])]
  return {
    seen_whole_vault: first.seen_whole_vault === true || second.seen_whole_vault === true,
    seen_group_ids: either(first.seen_group_ids, second.seen_group_ids),
    seen_shared_ids: either(first.seen_shared_ids, second.seen_shared_ids),
    seen_category_rights: either(first.seen_category_rights, second.seen_category_rights),
  }
}
