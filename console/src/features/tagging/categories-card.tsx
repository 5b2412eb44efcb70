import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { useViewer } from '../../lib/viewer.ts'
import { DetailState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { AssignedCategories } from './assigned-categories.tsx'
import { assignmentsQuery, availableCategoriesQuery, type Operation } from './queries.ts'
import { TagButton } from './tag-button.tsx'
import { WaitsForApproval } from './waits-for-approval.tsx'

/** The categories of an operation on its page. */
export function CategoriesCard({ operation }: { operation: Operation }) {
  const assigned = useQuery(assignmentsQuery(operation))
  const { data: available = [] } = useQuery(availableCategoriesQuery(operation))
  const { isAuditor } = useViewer(operation.code)
  const [requestId, setRequestId] = useState<string | null>(null)
  return (
    <Card title={t('Categories')} actions={!isAuditor && <TagButton operation={operation} category={null} />}>
      <DetailState query={assigned}>
        {assigned.data?.length === 0 && <p className="text-quiet">{t('No category yet.')}</p>}
        <AssignedCategories
          operation={operation}
          assigned={assigned.data ?? []}
          available={available}
          onPending={setRequestId}
        />
        {requestId !== null && <WaitsForApproval code={operation.code} requestId={requestId} />}
      </DetailState>
    </Card>
  )
}
