import type { ChangeSet } from '@strongroom/sdk'

export type Change = ChangeSet['changes'][number]

const reference = /^\$change:(\d+)$/

/** Returns the reference by which later changes of the same draft name the object that a change creates. */
function referenceTo(at: number): string {
  return `$change:${at}`
}

/** Replaces the change at a place of a draft, or adds it after the last change. */
export function withChange(changes: readonly Change[], change: Change, at = changes.length): Change[] {
  return [...changes.slice(0, at), change, ...changes.slice(at + 1)]
}

/** Returns the places of the changes that need the object which a change creates. */
export function dependentsOf(changes: readonly Change[], at: number): number[] {
  return changes.flatMap((change, index) => (textsIn(change).includes(referenceTo(at)) ? [index] : []))
}

/** Removes a change that no other change needs. References to later changes move up. */
export function withoutChange(changes: readonly Change[], at: number): Change[] {
  return changes.filter((_, index) => index !== at).map((change) => moved(change, at) as Change)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

function moved(value: unknown, removed: number): unknown {
  if (typeof value === 'string') {
    const named = reference.exec(value)?.[1]
    return named !== undefined && Number(named) > removed ? referenceTo(Number(named) - 1) : value
  }
  if (Array.isArray(value)) return value.map((item) => moved(item, removed))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, moved(member, removed)]))
}

/** Returns the groups that a draft creates before a place, under the ids by which its other changes name them. */
export function groupsOf(changes: readonly Change[], before = changes.length): { id: string; name: string }[] {
  return changes.slice(0, before).flatMap(({ action, payload }, at) => {
    const name = payload.name
    return action === 'policy_group_create' && typeof name === 'string' ? [{ id: referenceTo(at), name }] : []
  })
}
