import type { ApprovalRequest, Payout, Transfer } from '@strongroom/sdk'
import { Check, Clock, X } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatRecent } from '../../lib/time.ts'
import { Card } from '../../ui/page.tsx'

type VotesProps = {
  requirements: readonly {
    policyCode: string
    threshold: number
    approvalsCount: number
    votesMissing: number
    bypassed: boolean
  }[]
  approvers: Transfer['approvers'] | ApprovalRequest['approvers'] | Payout['approvers']
  quorumReachable: boolean
}

/** The policies that require votes, in words, and the votes so far. */
export function Votes({ requirements, approvers, quorumReachable }: VotesProps) {
  return (
    <Card title={t('Votes')}>
      <ul className="mb-3 grid gap-1">
        {requirements.map(({ policyCode, threshold, approvalsCount, votesMissing, bypassed }) => (
          <li key={policyCode}>
            {bypassed
              ? t('The policy {policy} was waived by an administrator.', { policy: policyCode })
              : t(
                  'The policy {policy} asks for {threshold, plural, one {# approval} other {# approvals}}; {count} given.',
                  {
                    policy: policyCode,
                    // The votes of a required group may be missing although the total is reached.
                    threshold: votesMissing === 0 ? threshold : approvalsCount + votesMissing,
                    count: approvalsCount,
                  },
                )}
          </li>
        ))}
      </ul>
      {!quorumReachable && (
        <p role="alert" className="mb-3 rounded-md bg-warn-soft p-3 text-warn">
          {t('Too few people are left who may approve this. An administrator can change the approvers of the policy.')}
        </p>
      )}
      <ul className="grid gap-2">
        {approvers.map((approver) => (
          <Vote key={approver.id} {...approver} />
        ))}
      </ul>
    </Card>
  )
}

function Vote({ user, decision, comment, votedAt, counts }: VotesProps['approvers'][number]) {
  const [Icon, tone, word] =
    decision === null
      ? [Clock, 'text-quiet', t('no vote yet')]
      : decision === 'approve'
        ? [Check, 'text-good', t('has approved')]
        : [X, 'text-bad', t('has rejected')]
  return (
    <li className="flex items-start gap-2">
      <Icon size={17} aria-hidden className={`mt-0.5 shrink-0 ${tone}`} />
      <span>
        <span className="font-medium">{nameOf(user)}</span> <span className={tone}>{word}</span>
        {votedAt !== null && <span className="text-quiet"> · {formatRecent(votedAt)}</span>}
        {decision !== null && !counts && <span className="text-warn"> · {t('does not count')}</span>}
        {comment !== null && <span className="block text-quiet">“{comment}”</span>}
      </span>
    </li>
  )
}
