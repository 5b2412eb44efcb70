import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Card } from '../../ui/page.tsx'
import { policiesQuery, useVocabulary } from './queries.ts'
import { TryHistory } from './try-history.tsx'

/** What a change of the rules would have made of the past, for those who read all of it. */
export default function ChangeSetHistory({ code, id }: { code: string; id: string }) {
  const { isAdmin, isAuditor } = useViewer(code)
  const { vocabulary } = useVocabulary(code)
  const policies = useQuery(policiesQuery(code))
  const names = new Map((policies.data ?? []).map((policy) => [policy.id, policy.name]))
  if (!isAdmin && !isAuditor) return null
  return (
    <Card title={t('Try it on history')}>
      {vocabulary !== undefined && (
        <TryHistory
          {...{ code, vocabulary }}
          nameOf={(policyId, policyCode) => names.get(policyId) ?? policyCode}
          tried={{ changeSetId: id }}
        />
      )}
    </Card>
  )
}
