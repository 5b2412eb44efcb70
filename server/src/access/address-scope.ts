import { forbidden } from '../lib/errors.ts'
import type { Member } from './caller.ts'

declare const brand: unique symbol

/**
 * Whose addresses, operations and balances a query may read. Only this module makes one, so a read of owned data that
 * forgot to ask who is asking does not compile.
 */
export type AddressScope = {
  readonly vaultId: string
  /** null: the whole vault. */
  readonly ownerId: string | null
  readonly [brand]: true
}

/**
 * An administrator reads the whole vault, or one owner's part of it; everyone else reads their own part.
 * @throws 403 when someone else than an administrator names another user
 */
export function addressScopeOf(member: Member, userId?: string): AddressScope {
  if (member.isAdmin) return scope(member.vault.id, userId ?? null)
  if (userId !== undefined && userId !== member.userId) {
    throw forbidden('Only administrators may read the data of another user')
  }
  return scope(member.vault.id, member.userId)
}

/** The caller's own part of the vault, even for an administrator: who may change an address is its owner alone. */
export function ownScopeOf(member: Member): AddressScope {
  return scope(member.vault.id, member.userId)
}

function scope(vaultId: string, ownerId: string | null): AddressScope {
  return { vaultId, ownerId } as AddressScope
}
