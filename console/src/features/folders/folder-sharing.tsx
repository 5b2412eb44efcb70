import type { AddressGroup } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { GrantList, ShareForm } from '../../ui/grants.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { toGrant, useSharing } from '../../ui/use-sharing.ts'
import { forgetFolders } from './actions.ts'
import { folderGrantsQuery } from './queries.ts'

/** The people with whom a folder is shared. Its manager changes the list. */
export function FolderSharing({ code, folder }: { code: string; folder: AddressGroup }) {
  const grants = useInfiniteQuery(folderGrantsQuery(code, folder.id))
  const { revoke, form } = useSharing(code, {
    create: (grant) => vaultOf(code).addressGroups.createGrant(folder.id, grant),
    remove: (id) => vaultOf(code).addressGroups.deleteGrant(folder.id, id),
    forget: () => forgetFolders(code),
  })
  const isManager = folder.access === 'manager'
  const items = grants.data?.pages.flatMap(({ items }) => items.map(toGrant)) ?? []
  return (
    <>
      <p className="mb-3 text-quiet">
        {t('People with whom the folder is shared see all addresses in it, for as long as these are in it.')}
      </p>
      <Problem error={revoke.error} />
      <ListState
        query={grants}
        isEmpty={items.length === 0}
        empty={<p>{t('Nobody else sees this folder.')}</p>}
        rows={2}
      >
        <GrantList grants={items} revoke={isManager ? (grant) => revoke.mutate(grant) : null} busy={revoke.isPending} />
      </ListState>
      {isManager && (
        <div className="mt-4">
          <ShareForm {...form} />
        </div>
      )}
    </>
  )
}
