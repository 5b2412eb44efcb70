import type { Transfer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatTime, formatTimeInFull, formatTimeLeft } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { policiesQuery } from './queries.ts'

/** The required votes, the approvers, and the votes so far. */
export function VotesCard({ code, transfer }: { code: string; transfer: Transfer }) {
  const { userId } = useViewer(code)
  const { data: policies = [] } = useQuery(policiesQuery(code))
  const nameOfPolicy = (id: string, policyCode: string) =>
    policies.find((policy) => policy.id === id)?.name ?? policyCode
  const { approvers, approvalRequirements, status, expiresAt, quorumReachable } = transfer
  if (approvalRequirements.length === 0) return null
  const isOpen = status === 'awaiting_approval'
  const isMine = isOpen && approvers.some((approver) => approver.userId === userId && approver.canVote)
  const decide = (
    <Link to={`/v/${code}/approvals/transfer/${transfer.id}` as '/'} className={buttonClass('primary')}>
      {t('Decide')}
    </Link>
  )
  return (
    <Card title={t('Votes')} actions={isMine ? decide : undefined}>
      <ul className="mb-3 grid gap-1">
        {approvalRequirements.map(({ policyId, policyCode, approvalsCount, votesMissing, threshold, bypassed }) => (
          <li key={policyId}>
            {bypassed
              ? t('“{policy}” needs no vote, because an administrator ordered it.', {
                  policy: nameOfPolicy(policyId, policyCode),
                })
              : t('“{policy}”: {approvalsCount} of {threshold} approvals', {
                  policy: nameOfPolicy(policyId, policyCode),
                  approvalsCount,
                  threshold: votesMissing === 0 ? threshold : approvalsCount + votesMissing,
                })}
          </li>
        ))}
      </ul>
      {isOpen && expiresAt !== null && (
        <p className="mb-3 text-quiet" title={formatTimeInFull(expiresAt)}>
          {t('Time left to vote: {time}', { time: formatTimeLeft(expiresAt) })}
        </p>
      )}
      {isOpen && !quorumReachable && (
        <p role="alert" className="mb-3 text-bad">
          {t('Too few people can still vote. Cancel the transfer, or restore the approvers.')}
        </p>
      )}
      <ul className="divide-y divide-line">
        {approvers.map((approver) => (
          <Approver key={approver.id} approver={approver} isOpen={isOpen} />
        ))}
      </ul>
    </Card>
  )
}

type ApproverProps = { approver: Transfer['approvers'][number]; isOpen: boolean }

function Approver({ approver, isOpen }: ApproverProps) {
  const { user, decision, comment, votedAt, counts } = approver
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1 py-2">
      <span className="min-w-0">
        <span className="inline-flex items-center gap-2 font-medium">
          <Avatar name={nameOf(user)} image={user?.image} /> {nameOf(user)}
        </span>
        {comment !== null && <span className="block text-quiet [overflow-wrap:anywhere]">“{comment}”</span>}
        {decision !== null && !counts && (
          <span className="block text-[0.8125rem] text-warn">
            {t('The vote does not count: no longer an approver.')}
          </span>
        )}
      </span>
      <span className="flex items-center gap-3">
        {votedAt !== null && (
          <time dateTime={votedAt} title={formatTimeInFull(votedAt)} className="text-[0.8125rem] text-quiet">
            {formatTime(votedAt)}
          </time>
        )}
        {decision === 'approve' && <Badge tone="good">{t('Approved')}</Badge>}
        {decision === 'reject' && <Badge tone="bad">{t('Rejected')}</Badge>}
        {decision === null && (
          <Badge tone={isOpen ? 'waiting' : 'neutral'}>{isOpen ? t('Not voted yet') : t('Did not vote')}</Badge>
        )}
      </span>
    </li>
  )
}
