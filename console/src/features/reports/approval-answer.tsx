import type { ActivityApprovals, ApprovalActivityReport, ApproverActivity, PolicyApprovals } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatDuration } from '../../lib/time.ts'
import { Named } from '../../ui/avatar.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { formatCount } from './figures.tsx'

/** The approvals of the transfers of a report, in figures. */
export function Approvals({ approvals }: { approvals: ActivityApprovals }) {
  if (approvals.operationsRequiringApproval === 0) return null
  return (
    <Card title={t('Votes')}>
      <Facts
        facts={[
          [t('Needed votes'), formatCount(approvals.operationsRequiringApproval)],
          [t('Approved'), formatCount(approvals.approvedOperations)],
          [t('Rejected'), formatCount(approvals.rejectedOperations)],
          [t('Cancelled'), formatCount(approvals.cancelledOperations)],
          // No link: rows of payouts, which wait for the votes of their payout, are not counted here.
          [t('Still waiting'), formatCount(approvals.pendingOperations)],
          [t('Time to decision, median'), seconds(approvals.medianApprovalSeconds)],
          [t('Time to decision, longest'), seconds(approvals.maximumApprovalSeconds)],
        ]}
      />
    </Card>
  )
}

export function ApprovalAnswer({ answer }: { answer: ApprovalActivityReport }) {
  return (
    <>
      <Approvals approvals={answer.approvals} />
      <ByPolicy rows={answer.byPolicy} />
      <ByApprover rows={answer.byApprover} />
    </>
  )
}

function ByPolicy({ rows }: { rows: readonly PolicyApprovals[] }) {
  const columns: Column<PolicyApprovals>[] = [
    { id: 'policy', header: t('Policy'), cell: ({ policyName }) => policyName },
    {
      id: 'asked',
      header: t('Needed votes'),
      align: 'end',
      cell: ({ operationsRequiringApproval }) => formatCount(operationsRequiringApproval),
    },
    { id: 'approved', header: t('Approved'), align: 'end', cell: (row) => formatCount(row.approvedOperations) },
    { id: 'rejected', header: t('Rejected'), align: 'end', cell: (row) => formatCount(row.rejectedOperations) },
    { id: 'waived', header: t('Waived'), align: 'end', cell: (row) => formatCount(row.bypassedOperations) },
    { id: 'waiting', header: t('Still waiting'), align: 'end', cell: (row) => formatCount(row.pendingOperations) },
    { id: 'median', header: t('Median time'), align: 'end', cell: (row) => seconds(row.medianApprovalSeconds) },
  ]
  return (
    <Card title={t('By policy')}>
      <SmallTable
        caption={t('By policy')}
        columns={columns}
        rows={rows}
        rowKey={({ policyId }) => policyId}
        empty={t('No policy asked for votes in this period.')}
      />
    </Card>
  )
}

function ByApprover({ rows }: { rows: readonly ApproverActivity[] }) {
  const columns: Column<ApproverActivity>[] = [
    {
      id: 'who',
      header: t('Person'),
      cell: ({ user, userId }) => (user === null ? userId : <Named name={nameOf(user)} image={user.image} />),
    },
    { id: 'asked', header: t('Was asked'), align: 'end', cell: (row) => formatCount(row.askedCount) },
    { id: 'approved', header: t('Approved'), align: 'end', cell: (row) => formatCount(row.approvedCount) },
    { id: 'rejected', header: t('Rejected'), align: 'end', cell: (row) => formatCount(row.rejectedCount) },
    { id: 'without', header: t('Without a vote'), align: 'end', cell: (row) => formatCount(row.withoutVoteCount) },
    { id: 'median', header: t('Median time'), align: 'end', cell: (row) => seconds(row.medianVoteSeconds) },
  ]
  return (
    <Card title={t('By person')}>
      <SmallTable
        caption={t('By person')}
        columns={columns}
        rows={rows}
        rowKey={({ userId }) => userId}
        empty={t('Nobody was asked for a vote in this period.')}
      />
    </Card>
  )
}

function seconds(value: number | null): string {
  return value === null ? '–' : formatDuration(value)
}
