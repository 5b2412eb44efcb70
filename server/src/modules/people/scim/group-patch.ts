import { scimTextLengthMax } from '../../../lib/limits.ts'
import { groupAttributeOf } from './attributes.ts'
import { parseFilter } from './filter.ts'
import type { Operation } from './patch.ts'
import { scimFault } from './scim-fault.ts'

/** A group as a directory sends it. */
export type SentGroup = { displayName: string; externalId: string | null; memberIds: string[] }

/** A change of a group. Members are changed by SQL, so that the list of members is never loaded. */
export type GroupChange =
  | { name: 'displayName'; value: string }
  | { name: 'externalId'; value: string | null }
  | { name: 'members'; verb: 'add' | 'remove' | 'replace'; ids: string[] }
  | { name: 'members'; verb: 'clear' }

/** Returns the changes of a PATCH, in their order. @throws 400 */
export const readGroupChanges = (operations: readonly Operation[]): GroupChange[] => operations.flatMap(changesOf)

function changesOf({ op, path, value }: Operation): GroupChange[] {
  if (path !== null) return changeOf(op, path, value)
  if (op === 'remove') throw scimFault('noTarget', 'path: is required to remove')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw scimFault('invalidValue', 'value: must be an object where there is no path')
  // Attributes that are not stored, read-only or unknown are left out, as in a POST.
  return Object.entries(value).flatMap(([name, part]) =>
    ['ignored', 'readOnly', 'unknown'].includes(groupAttributeOf(name)) ? [] : changeOf(op, name, part),
  )
}

function changeOf(op: Operation['op'], path: string, value: unknown): GroupChange[] {
  const found = /^([^[\]]+)(?:\[(.*)\])?$/s.exec(path.trim())
  const attribute = groupAttributeOf(found?.[1] ?? path)
  if (attribute === 'ignored') return []
  if (attribute === 'readOnly') throw scimFault('mutability', `${path}: is set by this service`)
  if (attribute === 'unknown') throw scimFault('invalidPath', 'path: names no attribute of a group')
  const condition = found?.[2]
  if (attribute === 'members') return [changeOfMembers(op, condition, value)]
  if (condition !== undefined) throw scimFault('invalidPath', `path: ${attribute} is not a list`)
  const text = op === 'remove' || value === null ? null : readGroupText(attribute, value)
  if (attribute === 'externalId') return [{ name: 'externalId', value: text }]
  if (text === null) throw scimFault('mutability', 'displayName: is required')
  return [{ name: 'displayName', value: text }]
}

function changeOfMembers(op: Operation['op'], condition: string | undefined, value: unknown): GroupChange {
  if (condition !== undefined) {
    const filter = parseFilter(condition)
    const isById = filter.op === 'eq' && filter.name === 'value' && typeof filter.value === 'string'
    if (op !== 'remove' || !isById) throw scimFault('invalidPath', 'path: members are removed by members[value eq "…"]')
    return { name: 'members', verb: 'remove', ids: [filter.value as string] }
  }
  if (op === 'remove' && (value === undefined || value === null)) return { name: 'members', verb: 'clear' }
  return { name: 'members', verb: op, ids: readMemberIds(value) }
}

/** Returns the ids of members: objects with `value`, or one such object. @throws 400 invalidValue */
function readMemberIds(value: unknown): string[] {
  if (value === null || value === undefined) return []
  const ids = [value].flat().map((member) => {
    const id = typeof member === 'string' ? member : (member as { value?: unknown } | null)?.value
    const type = typeof member === 'object' ? (member as { type?: unknown } | null)?.type : undefined
    if (typeof id !== 'string' || id === '' || id.length > 128)
      throw scimFault('invalidValue', 'members: must have values')
    if (type === 'Group') throw scimFault('invalidValue', 'members: groups within groups are not supported')
    return id
  })
  return [...new Set(ids)]
}

/** @throws 400 invalidValue */
function readGroupText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > scimTextLengthMax)
    throw scimFault('invalidValue', `${name}: must be a text of 1 to ${scimTextLengthMax} characters`)
  return value
}

/** Reads a group of POST and PUT. @throws 400 invalidValue */
export function readSentGroup(body: Readonly<Record<string, unknown>>): SentGroup {
  const partOf = (name: string) => Object.entries(body).find(([key]) => groupAttributeOf(key) === name)?.[1]
  const externalId = partOf('externalId') ?? null
  return {
    displayName: readGroupText('displayName', partOf('displayName')),
    externalId: externalId === null || externalId === '' ? null : readGroupText('externalId', externalId),
    memberIds: readMemberIds(partOf('members')),
  }
}
