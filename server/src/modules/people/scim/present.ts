import { scimPrefix } from '../../../http/scim-form.ts'
import { scimPageItemsDefault, scimPageItemsMax } from '../../../lib/limits.ts'
import { toPerson } from './actions.ts'
import { groupSchema, userSchema } from './attributes.ts'
import { etagOf } from './by-directory.ts'
import type { GroupMember, GroupRow } from './group-queries.ts'
import type { PersonRow } from './queries.ts'
import { listResponse, type ScimGroup, type ScimListQuery, type ScimQuery } from './schema.ts'

type Resource = Record<string, unknown> & { schemas: string[]; id: string }

export const locationOf = (origin: string, path: string): string => `${origin}${scimPrefix}/${path}`

export function toScimUser(row: PersonRow, origin: string, query: ScimQuery = {}): Resource {
  const meta = {
    resourceType: 'User',
    created: row.created_at.toISOString(),
    lastModified: row.updated_at.toISOString(),
    version: etagOf(row.version),
    location: locationOf(origin, `Users/${row.user_id}`),
  }
  return chosen({ schemas: [userSchema], id: row.user_id, ...toPerson(row), meta }, query)
}

/** Returns a group with these members. If there are none, it has no field `members`. */
export function toScimGroup(row: GroupRow, members: GroupMember[], origin: string, query: ScimQuery): ScimGroup {
  const meta = {
    resourceType: 'Group' as const,
    created: row.created_at.toISOString(),
    lastModified: row.updated_at.toISOString(),
    version: etagOf(row.version),
    location: locationOf(origin, `Groups/${row.id}`),
  }
  const named = {
    displayName: row.display_name,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    ...(members.length === 0
      ? {}
      : { members: members.map(({ value, display }) => ({ value, display, type: 'User' })) }),
  }
  return chosen({ schemas: [groupSchema], id: row.id, ...named, meta }, query) as ScimGroup
}

export const namesMembers = (names: string): boolean => topOf(names).has('members')

export function rangeOf({ startIndex = 1, count = scimPageItemsDefault }: ScimListQuery) {
  const start = Math.max(1, startIndex)
  return { startIndex: start, range: { offset: start - 1, limit: Math.min(Math.max(0, count), scimPageItemsMax) } }
}

/** Returns the names of attributes in lower case, without URNs and sub-attributes. */
function topOf(text: string): Set<string> {
  const names = text.split(',').map((name) => /[^.:]*(?:\.[^.:]*)?$/.exec(name.trim())![0])
  return new Set(names.map((name) => name.split('.')[0]!.toLowerCase()))
}

/** Leaves out attributes that the directory did not ask for. `schemas` and `id` always stay. */
function chosen({ schemas, id, ...rest }: Resource, { attributes, excludedAttributes }: ScimQuery): Resource {
  const [wanted, unwanted] = [attributes, excludedAttributes].map((text) => (text === undefined ? null : topOf(text)))
  const kept = Object.entries(rest).filter(([name]) =>
    wanted ? wanted.has(name.toLowerCase()) : unwanted?.has(name.toLowerCase()) !== true,
  )
  return { schemas, id, ...Object.fromEntries(kept) }
}

export function toScimList(resources: Record<string, unknown>[], total: number, startIndex: number) {
  return {
    schemas: [listResponse],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}
