import type { Adjustment } from '@strongroom/sdk'
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'

const unagreedQuery = (code: string) =>
  infiniteQueryOptions({
    queryKey: ['books', code, 'unagreed'],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .adjustments.list(
          { isAgreed: false, limit: 20, ...(pageParam === '' ? {} : { cursor: pageParam }) },
          { signal },
        )
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** The adjustments that one person made alone. Policies do not count them in a vault with governance or protection. */
export function UnagreedAdjustments({ code }: { code: string }) {
  const query = useInfiniteQuery(unagreedQuery(code))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  if (rows.length === 0) return null
  return (
    <Card title={t('Adjustments of one person')}>
      <p className="mb-4 text-quiet">
        {t('In a vault with governance or protection, policies count them only when a second administrator agrees.')}
      </p>
      <DataTable
        caption={t('Adjustments of one person')}
        columns={columnsOf(code)}
        rows={rows}
        rowKey={({ id }) => id}
        more={query}
      />
    </Card>
  )
}

const columnsOf = (code: string): Column<Adjustment>[] => [
  {
    id: 'address',
    header: t('Address'),
    cell: ({ address }) => <span className="code [overflow-wrap:anywhere]">{address}</span>,
  },
  {
    id: 'amount',
    header: t('Amount'),
    align: 'end',
    cell: ({ amountDecimal, asset }) => <Amount decimal={amountDecimal} unit={asset} />,
  },
  { id: 'reason', header: t('Reason'), cell: ({ reason }) => reason },
  {
    id: 'made',
    header: t('Made'),
    cell: ({ createdAt, createdBy }) => (
      <>
        {formatTime(createdAt)}
        <span className="block text-quiet">{createdBy?.name}</span>
      </>
    ),
  },
  { id: 'agree', header: t('Actions'), align: 'end', cell: ({ id }) => <AskAgreement code={code} id={id} /> },
]

function AskAgreement({ code, id }: { code: string; id: string }) {
  const [key] = useState(newIdempotencyKey)
  const write = useWrite({
    renews: ['inbox'],
    said: t('The adjustment waits for a second administrator.'),
    write: () => vaultOf(code).adjustments.agreeTo(id, { idempotencyKey: key }),
  })
  if (write.data !== undefined) return <WaitsForApproval code={code} requestId={write.data.request.id} />
  return (
    <>
      <WriteFailed write={write} />
      <Button busy={write.isPending} onClick={() => write.mutate()}>
        {t('Ask for agreement')}
      </Button>
    </>
  )
}
