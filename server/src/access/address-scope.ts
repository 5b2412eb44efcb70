import { type RawBuilder, sql } from 'kysely'
import { forbidden } from '../lib/errors.ts'
import type { Member } from './caller.ts'

/** The member in whose name a query reads: the caller, or the initiator of a request that is decided again. */
export type Viewer = Pick<Member, 'userId' | 'readsAll' | 'groupIds'> & { vault: Pick<Member['vault'], 'id'> }

declare const brand: unique symbol

/**
 * The addresses, operations and balances that a query may read. Only this module creates a scope, so that a read of owned data
 * without a viewer does not compile. Only the SQL of this module and of feeds uses its fields.
 */
export type AddressScope = {
  readonly vaultId: string
  /** The viewer as grants name them: `user:<id>`, and `group:<id>` for every group, including `everyone`. */
  readonly viewer: { readonly userId: string; readonly readsAll: boolean; readonly subjects: readonly string[] }
  /** True if the scope is the whole vault. Otherwise it is the sum of the parts that the next two fields describe. */
  readonly isWholeVault: boolean
  /** The person whose addresses, with their operations, and ordered transfers are a part; null if there is no such part. */
  readonly ownerId: string | null
  /** True if the addresses that others share with the viewer, with their operations, are a part. */
  readonly includesShared: boolean
  /** If set, the scope is restricted to addresses of this folder. */
  readonly folderId: string | null
  readonly [brand]: true
}

/** The addresses that a member may request: their own, those that others share with them, or both. */
export const addressAccesses = ['own', 'shared', 'all'] as const

type Wanted = {
  /** For administrators and auditors: the owner whose part of the vault is read. */
  userId?: string | undefined
  /** Own addresses, addresses that are shared with the caller, or both; ignored for a viewer who reads the whole vault. */
  access?: (typeof addressAccesses)[number] | undefined
  includeShared?: boolean | undefined
  /** A folder that the caller manages, was granted or administers. Any other folder counts as empty. */
  folderId?: string | undefined
}

/**
 * Returns the part of the vault that a list covers. An administrator or auditor reads all of it or the part of one owner. Every
 * other member reads their own part and, on request, the addresses that are shared with them. A member who names only a folder
 * reads all addresses of the folder that they may see.
 *
 * @throws 403 when a member who does not read the whole vault names another user
 */
export function addressScopeOf(member: Viewer, { userId, folderId, ...wanted }: Wanted = {}): AddressScope {
  if (member.readsAll) return scope(member, { isWholeVault: userId === undefined, ownerId: userId, folderId })
  if (userId !== undefined && userId !== member.userId) {
    throw forbidden('administrator_required', 'Only administrators and auditors may read the data of another user')
  }
  const includeShared = wanted.includeShared ?? folderId !== undefined
  const access = wanted.access ?? (includeShared ? 'all' : 'own')
  return scope(member, {
    ownerId: access === 'shared' ? undefined : member.userId,
    includesShared: access !== 'own',
    folderId,
  })
}

/** Returns the scope of everything that the member may see, for a read by id. */
export function visibleScopeOf(member: Viewer): AddressScope {
  return addressScopeOf(member, { access: 'all' })
}

/**
 * Returns the scope of the whole vault, for every viewer. It only serves to count rows that the viewer may not see, where they
 * may know the number (decision 0054). No other property of an invisible row may be returned.
 */
export function scopeToCount(member: Viewer): AddressScope {
  return scope(member, { isWholeVault: true })
}

/** Returns the scope of everything that the viewer of this scope may see. The passed scope may be narrower. */
export function allVisible(scope: AddressScope): AddressScope {
  const { readsAll, userId } = scope.viewer
  const parts = { isWholeVault: readsAll, ownerId: readsAll ? null : userId, includesShared: !readsAll, folderId: null }
  return { ...scope, ...parts }
}

/** Returns the scope of the member's own addresses, even for an administrator: only the owner may change an address. */
export function ownScopeOf(member: Viewer): AddressScope {
  return scope(member, { ownerId: member.userId })
}

function scope(
  member: Viewer,
  parts: {
    isWholeVault?: boolean
    ownerId?: string | undefined
    includesShared?: boolean
    folderId?: string | undefined
  },
): AddressScope {
  const { isWholeVault = false, ownerId = null, includesShared = false, folderId = null } = parts
  const { userId, readsAll } = member
  const made: Omit<AddressScope, typeof brand> = {
    vaultId: member.vault.id,
    viewer: { userId, readsAll, subjects: subjectsOf(member) },
    isWholeVault,
    ownerId,
    includesShared,
    folderId,
  }
  return made as AddressScope
}

/** Returns the subjects of grants that a member matches. */
export function subjectsOf({ userId, groupIds }: Pick<Viewer, 'userId' | 'groupIds'>): string[] {
  return [`user:${userId}`, ...groupIds.map((id) => `group:${id}`)]
}

/** SQL condition: the address of `alias`, a row of `addresses`, is in scope. */
export function isAddressInScope(scope: AddressScope, alias: string): RawBuilder<boolean> {
  return inScope(scope, alias, ownAndShared(scope, alias), sql.ref(`${alias}.id`))
}

/**
 * SQL: returns the scope as conditions on `alias`, a row of `addresses`. No address meets two conditions. A list reads the conditions
 * one after the other, because each is a range of an index, and their disjunction is not. A folder is a single range.
 */
export function addressParts(scope: AddressScope, alias: string): RawBuilder<boolean>[] {
  const isOneRange = scope.isWholeVault || scope.folderId !== null
  const parts = isOneRange ? [] : ownAndShared(scope, alias)
  if (parts.length < 2) return [isAddressInScope(scope, alias)]
  return parts.map((part) => inScope(scope, alias, [part], sql.ref(`${alias}.id`)))
}

/** SQL: returns the ids of all addresses in scope, without duplicates. */
export function scopedAddressIds(scope: AddressScope): RawBuilder<unknown> {
  const parts = addressParts(scope, 's').map((part) => sql`select s.id from addresses s where ${part}`)
  return sql`${sql.join(parts, sql` union all `)}`
}

/** SQL condition: the operation of `alias`, a row of `operations`, is in scope by its address, or because the viewer ordered it. */
export function isOperationInScope(scope: AddressScope, alias: string): RawBuilder<boolean> {
  const addressId = sql.ref(`${alias}.address_id`)
  const parts: RawBuilder<unknown>[] = []
  if (scope.ownerId !== null) {
    const [owner, initiator] = [sql.ref(`${alias}.owner_id`), sql.ref(`${alias}.initiator_id`)]
    parts.push(sql`${owner} = ${scope.ownerId}`, sql`${initiator} = ${scope.ownerId}`)
  }
  if (scope.includesShared) parts.push(sql`${addressId} in (${sharedAddressIds(scope)})`)
  return inScope(scope, alias, parts, addressId)
}

/** SQL: returns the ids of all addresses that are shared with the viewer, one by one or by a folder. */
export function sharedAddressIds({ vaultId, viewer }: AddressScope): RawBuilder<unknown> {
  return sql`
    select g.address_id from address_grants g where g.vault_id = ${vaultId} and g.subject = any(${viewer.subjects}::text[])
    union
    select m.address_id from address_group_grants g
    join address_group_members m on m.vault_id = g.vault_id and m.group_id = g.group_id
    where g.vault_id = ${vaultId} and g.subject = any(${viewer.subjects}::text[])`
}

/** SQL: returns the ids of the addresses in the folder of the scope; empty when the viewer may not see the folder. */
export function folderAddressIds(scope: AddressScope): RawBuilder<unknown> {
  return sql`
    select m.address_id from address_group_members m
    join address_groups f on f.vault_id = m.vault_id and f.id = m.group_id
    where m.vault_id = ${scope.vaultId} and m.group_id = ${scope.folderId} and ${isFolderVisible(scope, 'f')}`
}

/** SQL condition: the viewer manages, was granted or administers the folder of `alias`, a row of `address_groups`. */
export function isFolderVisible(scope: AddressScope, alias: string): RawBuilder<boolean> {
  const ofVault = sql`${sql.ref(`${alias}.vault_id`)} = ${scope.vaultId}`
  if (scope.viewer.readsAll) return sql<boolean>`${ofVault}`
  const manager = sql.ref(`${alias}.created_by_id`)
  return sql<boolean>`(${ofVault} and (${manager} = ${scope.viewer.userId} or ${isFolderGranted(scope, alias)}))`
}

/** SQL condition: the folder of `alias` was granted to the viewer or to a group of the viewer. */
export function isFolderGranted({ viewer }: AddressScope, alias: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from address_group_grants g where g.vault_id = ${sql.ref(`${alias}.vault_id`)}
      and g.group_id = ${sql.ref(`${alias}.id`)} and g.subject = any(${viewer.subjects}::text[]))`
}

/**
 * SQL condition: the viewer may transfer from the address of `alias`, a row of `addresses`, as its owner or by a grant.
 * An administrator of the vault has no such right.
 */
export function isTransferAllowed({ viewer }: AddressScope, alias: string): RawBuilder<boolean> {
  const vaultId = sql.ref(`${alias}.vault_id`)
  const id = sql.ref(`${alias}.id`)
  return sql<boolean>`(${sql.ref(`${alias}.owner_id`)} = ${viewer.userId} or exists (
    select from address_grants g where g.vault_id = ${vaultId} and g.address_id = ${id} and g.can_transfer
      and g.subject = any(${viewer.subjects}::text[])
  ) or exists (
    select from address_group_members m
    join address_group_grants g on g.vault_id = m.vault_id and g.group_id = m.group_id
    where m.vault_id = ${vaultId} and m.address_id = ${id} and g.can_transfer
      and g.subject = any(${viewer.subjects}::text[])))`
}

/**
 * SQL: returns the conditions for own and for shared addresses. They do not overlap: an address of the viewer counts as own, even if
 * it is also shared with a group of the viewer.
 */
function ownAndShared(scope: AddressScope, alias: string): RawBuilder<unknown>[] {
  const owner = sql.ref(`${alias}.owner_id`)
  const parts: RawBuilder<unknown>[] = []
  if (scope.ownerId !== null) parts.push(sql`${owner} = ${scope.ownerId}`)
  if (scope.includesShared) {
    const id = sql.ref(`${alias}.id`)
    parts.push(sql`(${owner} <> ${scope.viewer.userId} and ${id} in (${sharedAddressIds(scope)}))`)
  }
  return parts
}

/** SQL condition: the row is in the vault, in one of the parts (unless the whole vault is in scope), and in the folder, if any. */
function inScope(
  scope: AddressScope,
  alias: string,
  parts: RawBuilder<unknown>[],
  addressId: RawBuilder<unknown>,
): RawBuilder<boolean> {
  const conditions = [sql`${sql.ref(`${alias}.vault_id`)} = ${scope.vaultId}`]
  if (!scope.isWholeVault) conditions.push(parts.length === 0 ? sql`false` : sql`(${sql.join(parts, sql` or `)})`)
  if (scope.folderId !== null) conditions.push(sql`${addressId} in (${folderAddressIds(scope)})`)
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}
