import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Card } from '../../ui/page.tsx'
import { requestQuery } from '../approvals/queries.ts'
import { changeSetQuery } from '../governance/queries.ts'
import { policiesQuery, useVocabulary } from './queries.ts'
import { TryHistory } from './try-history.tsx'

type Shown = { code: string; id: string }

/** Tries a change of the rules on past requests. Readers of the whole vault and the approvers of the change may do so. */
export default function ChangeSetHistory({ code, id }: Shown) {
  const { isAdmin, isAuditor } = useViewer(code)
  return isAdmin || isAuditor ? <History {...{ code, id }} /> : <HistoryOfVoter {...{ code, id }} />
}

/** Shown while the request waits, to readers whose vote counts. */
function HistoryOfVoter({ code, id }: Shown) {
  const { data: session } = useQuery(sessionQuery)
  const { data: set } = useQuery(changeSetQuery(code, id))
  const requestId = set?.status === 'pending' ? set.requestId : null
  const { data: request } = useQuery({ ...requestQuery(code, requestId ?? ''), enabled: requestId != null })
  const vote = request?.approvers.find(({ userId }) => userId === session?.user.id)
  const mayTry = request?.status === 'pending' && (vote?.canVote || vote?.counts)
  return mayTry ? <History {...{ code, id }} askedAt={request.createdAt} /> : null
}

function History({ code, id, askedAt }: Shown & { askedAt?: string }) {
  const { vocabulary } = useVocabulary(code)
  const policies = useQuery(policiesQuery(code))
  const names = new Map((policies.data ?? []).map((policy) => [policy.id, policy.name]))
  return (
    <Card title={t('Try it on history')}>
      {vocabulary !== undefined && (
        <TryHistory
          {...{ code, vocabulary, askedAt }}
          nameOf={(policyId, policyCode) => names.get(policyId) ?? policyCode}
          tried={{ changeSetId: id }}
        />
      )}
    </Card>
  )
}
