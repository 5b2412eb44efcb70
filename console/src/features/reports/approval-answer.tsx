import type { ActivityApprovals, ApprovalActivityReport, ApproverActivity, PolicyApprovals } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatDuration } from '../../lib/time.ts'
import { Named } from '../../ui/avatar.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import type { Drilldown } from './drilldown.ts'
import { DrilldownLink } from './drilldown-link.tsx'
import { formatCount } from './figures.tsx'

/** The statuses of transfers whose votes were given. */
const approvedStatuses = 'pending,confirmed,failed'
/** The maximum number of values in a list of a report. */
const listValuesMax = 200

type CountProps = {
  count: number
  /** The policies that asked for votes on what is counted; left out where only the statuses say what is. */
  policyIds?: readonly string[]
  statuses?: string
}

/** A number of transfers that needed votes, with a link to them. */
function VotedCount({ count, policyIds = [], statuses }: CountProps) {
  const filters: Drilldown = {
    ...(policyIds.length === 0 ? {} : { approvalPolicyIds: policyIds.join(',') }),
    ...(statuses === undefined ? {} : { statuses }),
  }
  return <DrilldownLink filters={policyIds.length > listValuesMax ? null : filters}>{formatCount(count)}</DrilldownLink>
}

type ApprovalsProps = {
  approvals: ActivityApprovals
  /** The policies that asked for these votes; without them only the transfers that wait have a link. */
  policyIds?: readonly string[]
}

/** The approvals of the transfers of a report, in figures. */
export function Approvals({ approvals, policyIds }: ApprovalsProps) {
  if (approvals.operationsRequiringApproval === 0) return null
  const countOf = (count: number, statuses?: string) =>
    policyIds === undefined ? (
      formatCount(count)
    ) : (
      <VotedCount count={count} policyIds={policyIds} {...(statuses === undefined ? {} : { statuses })} />
    )
  return (
    <Card title={t('Votes')}>
      <Facts
        facts={[
          [t('Needed votes'), countOf(approvals.operationsRequiringApproval)],
          [t('Approved'), countOf(approvals.approvedOperations, approvedStatuses)],
          [t('Rejected'), countOf(approvals.rejectedOperations, 'rejected')],
          [t('Cancelled'), countOf(approvals.cancelledOperations, 'cancelled')],
          // Every transfer of this status needs votes.
          [t('Still waiting'), <VotedCount key="w" count={approvals.pendingOperations} statuses="awaiting_approval" />],
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
      <Approvals approvals={answer.approvals} policyIds={policiesOf(answer)} />
      <ByPolicy rows={answer.byPolicy} />
      <ByApprover rows={answer.byApprover} />
    </>
  )
}

/** Returns the policies that asked for votes which were not waived. */
function policiesOf({ byPolicy }: ApprovalActivityReport): string[] {
  return byPolicy.flatMap(({ policyId, operationsRequiringApproval }) =>
    operationsRequiringApproval === 0 ? [] : [policyId],
  )
}

function ByPolicy({ rows }: { rows: readonly PolicyApprovals[] }) {
  const columns: Column<PolicyApprovals>[] = [
    { id: 'policy', header: t('Policy'), cell: ({ policyName }) => policyName },
    {
      id: 'asked',
      header: t('Needed votes'),
      align: 'end',
      cell: (row) => <VotedCount count={row.operationsRequiringApproval} policyIds={[row.policyId]} />,
    },
    {
      id: 'approved',
      header: t('Approved'),
      align: 'end',
      cell: (row) => (
        <VotedCount count={row.approvedOperations} policyIds={[row.policyId]} statuses={approvedStatuses} />
      ),
    },
    {
      id: 'rejected',
      header: t('Rejected'),
      align: 'end',
      cell: (row) => <VotedCount count={row.rejectedOperations} policyIds={[row.policyId]} statuses="rejected" />,
    },
    { id: 'waived', header: t('Waived'), align: 'end', cell: (row) => formatCount(row.bypassedOperations) },
    {
      id: 'waiting',
      header: t('Still waiting'),
      align: 'end',
      cell: (row) => (
        <VotedCount count={row.pendingOperations} policyIds={[row.policyId]} statuses="awaiting_approval" />
      ),
    },
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
      <p className="mt-2 text-quiet">{t('A vote on a payout is one vote, for all of its rows.')}</p>
    </Card>
  )
}

function seconds(value: number | null): string {
  return value === null ? '–' : formatDuration(value)
}
