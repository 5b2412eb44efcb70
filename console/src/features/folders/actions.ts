import { type AddressGroup, StrongroomError } from '@strongroom/sdk'
import { vaultOf } from '../../lib/api.ts'
import type { Movable } from '../../lib/dragged.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { announce } from '../../ui/toast.tsx'

/**
 * Returns true if the reader must confirm before addresses are put into a folder: it is shared, or some addresses
 * belong to others.
 */
export function needsAsking(folder: AddressGroup, addresses: readonly Movable[]): boolean {
  return folder.sharing.isShared || addresses.some(({ isOwner }) => !isOwner)
}

/** Puts the addresses that the reader owns into a folder. Addresses that are already in it are skipped. */
export async function putInto(code: string, folder: AddressGroup, addresses: readonly Movable[]): Promise<void> {
  const owned = addresses.filter(({ isOwner }) => isOwner)
  let count = 0
  try {
    for (const { id } of owned) {
      const added = await vaultOf(code).addressGroups.addMember(folder.id, { addressId: id }).catch(ignoreThere)
      if (added == null || added.pendingApproval === null) count += 1
    }
    if (count === 0) return
    announce(
      t('{count, plural, one {# address is} other {# addresses are}} in {folder}', { count, folder: folder.name }),
    )
  } finally {
    forgetFolders(code)
  }
}

export async function takeOut(code: string, folder: AddressGroup, addresses: readonly Movable[]): Promise<void> {
  try {
    let count = 0
    for (const { id } of addresses) {
      const { pendingApproval } = await vaultOf(code).addressGroups.removeMember(folder.id, id)
      if (pendingApproval === null) count += 1
    }
    if (count === 0) return
    announce(
      t('{count, plural, one {# address} other {# addresses}} taken out of {folder}', { count, folder: folder.name }),
    )
  } finally {
    forgetFolders(code)
  }
}

export function forgetFolders(code: string): void {
  void queryClient.invalidateQueries({ queryKey: ['address-groups', code] })
  void queryClient.invalidateQueries({ queryKey: ['addresses', code] })
}

function ignoreThere(error: unknown): void {
  if (error instanceof StrongroomError && error.reason === 'already_exists') return
  throw error
}
