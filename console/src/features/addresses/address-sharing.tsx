import type { Address } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { nameOf } from '../../lib/session.ts'
import { useSubjects } from '../../lib/subjects.ts'
import { type Grant, GrantList, ShareForm, type Subject } from '../../ui/grants.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { addressGrantsQuery } from './queries.ts'

/** With whom the address itself is shared; folders share it besides. */
export function AddressSharing({ code, address }: { code: string; address: Address }) {
  const grants = useInfiniteQuery(addressGrantsQuery(code, address.id))
  const { subjects, search, searching } = useSubjects(code)
  const forget = () => queryClient.invalidateQueries({ queryKey: ['addresses', code] })
  const share = useMutation({
    mutationFn: ({ subject, canTransfer }: { subject: Subject; canTransfer: boolean }) =>
      vaultOf(code).addresses.createGrant(address.id, {
        subjectType: subject.type,
        subjectId: subject.id,
        canTransfer,
      }),
    onSuccess: (_, { subject }) => {
      void forget()
      announce(t('Shared with {name}', { name: subject.name }))
    },
  })
  const revoke = useMutation({
    mutationFn: ({ id }: Grant) => vaultOf(code).addresses.deleteGrant(address.id, id),
    onSuccess: (_, { name }) => {
      void forget()
      announce(t('No longer shared with {name}', { name }))
    },
  })
  const items: Grant[] = (grants.data?.pages.flatMap(({ items }) => items) ?? []).map(
    ({ id, subject, subjectType, canTransfer, createdAt }) => {
      return { id, name: nameOf(subject), isGroup: subjectType === 'group', canTransfer, createdAt }
    },
  )
  return (
    <Card title={t('Sharing')}>
      <p className="mb-3 text-quiet">
        {t('The owner and the administrators see the address always. Folders that are shared share it, too.')}
      </p>
      <Problem error={revoke.error} />
      <ListState
        query={grants}
        isEmpty={items.length === 0}
        empty={<p>{t('It is shared with nobody by itself.')}</p>}
        rows={2}
      >
        <GrantList grants={items} revoke={(grant) => revoke.mutate(grant)} busy={revoke.isPending} />
      </ListState>
      <div className="mt-4 max-w-xl">
        <ShareForm
          subjects={subjects}
          search={search}
          searching={searching}
          busy={share.isPending}
          error={share.error}
          share={(subject, canTransfer) => share.mutateAsync({ subject, canTransfer })}
        />
      </div>
    </Card>
  )
}
