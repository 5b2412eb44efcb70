import type { Address } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { GrantList, ShareForm } from '../../ui/grants.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { toGrant, useSharing } from '../../ui/use-sharing.ts'
import { addressGrantsQuery } from './queries.ts'

/** The people with whom the address itself is shared. Its folder may share it with more people. */
export function AddressSharing({ code, address }: { code: string; address: Address }) {
  const grants = useInfiniteQuery(addressGrantsQuery(code, address.id))
  const { revoke, form } = useSharing(code, {
    create: (grant) => vaultOf(code).addresses.createGrant(address.id, grant),
    remove: (id) => vaultOf(code).addresses.deleteGrant(address.id, id),
    forget: () => void queryClient.invalidateQueries({ queryKey: ['addresses', code] }),
  })
  const items = grants.data?.pages.flatMap(({ items }) => items.map(toGrant)) ?? []
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
        <ShareForm {...form} />
      </div>
    </Card>
  )
}
