import type { AddressGroup, AddressGroupGrant } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { useSubjects } from '../../lib/subjects.ts'
import { type Grant, GrantList, ShareForm, type Subject } from '../../ui/grants.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { forgetFolders } from './actions.ts'
import { folderGrantsQuery } from './queries.ts'

/** With whom a folder is shared; its manager changes it. */
export function FolderSharing({ code, folder }: { code: string; folder: AddressGroup }) {
  const grants = useInfiniteQuery(folderGrantsQuery(code, folder.id))
  const { subjects, search, searching } = useSubjects(code)
  const share = useMutation({
    mutationFn: ({ subject, canTransfer }: { subject: Subject; canTransfer: boolean }) =>
      vaultOf(code).addressGroups.createGrant(folder.id, {
        subjectType: subject.type,
        subjectId: subject.id,
        canTransfer,
      }),
    onSuccess: (_, { subject }) => {
      forgetFolders(code)
      announce(t('Shared with {name}', { name: subject.name }))
    },
  })
  const revoke = useMutation({
    mutationFn: ({ id }: Grant) => vaultOf(code).addressGroups.deleteGrant(folder.id, id),
    onSuccess: (_, { name }) => {
      forgetFolders(code)
      announce(t('No longer shared with {name}', { name }))
    },
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
          <ShareForm
            subjects={subjects}
            search={search}
            searching={searching}
            busy={share.isPending}
            error={share.error}
            share={(subject, canTransfer) => share.mutateAsync({ subject, canTransfer })}
          />
        </div>
      )}
    </>
  )
}

export function toGrant({ id, subject, subjectType, canTransfer, createdAt }: AddressGroupGrant): Grant {
  return { id, name: nameOf(subject), isGroup: subjectType === 'group', canTransfer, createdAt }
}
