import type { Payout, PayoutRow } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { nameOf, sessionQuery } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { PayoutState, Sums } from './payout-list.tsx'
import { payoutRowsQuery } from './queries.ts'

type Decision = 'approve' | 'reject' | 'cancel'

/** One payout: what it pays, who has voted, and what became of every payment. */
export function PayoutDetail({ code, payout }: { code: string; payout: Payout }) {
  const viewer = useQuery(sessionQuery).data?.user.id
  const [deciding, decide] = useState<Decision | null>(null)
  const waits = payout.status === 'awaiting_approval'
  const mayVote = waits && payout.approvers.some(({ userId, canVote }) => userId === viewer && canVote)
  return (
    <Page
      title={payout.name ?? t('Payout')}
      actions={
        <>
          {mayVote && (
            <>
              <Button look="primary" onClick={() => decide('approve')}>
                {t('Approve …')}
              </Button>
              <Button look="danger" onClick={() => decide('reject')}>
                {t('Reject …')}
              </Button>
            </>
          )}
          {waits && payout.initiatorId === viewer && (
            <Button onClick={() => decide('cancel')}>{t('Withdraw …')}</Button>
          )}
        </>
      }
    >
      <Card>
        <Facts
          facts={[
            [t('State'), <PayoutState key="state" status={payout.status} />],
            [t('Why halted'), payout.haltReason],
            [t('Sum'), <Sums key="sums" sums={payout.sums} />],
            [t('Payments'), payout.rowsCount],
            [t('Purpose'), payout.paymentPurpose],
            [t('Ordered by'), nameOf(payout.initiator)],
            [t('Ordered'), formatTime(payout.createdAt)],
            [t('Votes until'), waits && payout.expiresAt !== null && formatTime(payout.expiresAt)],
            [t('Rule'), payout.decisionPolicyName],
          ]}
        />
      </Card>
      <Votes payout={payout} />
      <Card title={t('Payments')}>
        <Rows code={code} id={payout.id} />
      </Card>
      <Sheet title={titleOf(deciding)} open={deciding !== null} onClose={() => decide(null)}>
        {deciding !== null && <Decide code={code} payout={payout} decision={deciding} done={() => decide(null)} />}
      </Sheet>
    </Page>
  )
}

function titleOf(decision: Decision | null): string {
  if (decision === 'reject') return t('Reject the whole list?')
  return decision === 'cancel' ? t('Withdraw the whole list?') : t('Approve the whole list?')
}

function Votes({ payout: { approvers, approvalRequirements, quorumReachable, status } }: { payout: Payout }) {
  if (approvalRequirements.length === 0) return null
  const words = { approve: t('has approved'), reject: t('has rejected') }
  return (
    <Card title={t('Votes')}>
      <ul className="mb-3 grid gap-1">
        {approvalRequirements.map(({ policyId, policyCode, approvalsCount, threshold, bypassed }) => (
          <li key={policyId}>
            <span className="code">{policyCode}</span>:{' '}
            {bypassed ? t('waived') : t('{given} of {needed}', { given: approvalsCount, needed: threshold })}
          </li>
        ))}
      </ul>
      {!quorumReachable && status === 'awaiting_approval' && (
        <p className="mb-3 text-bad">{t('There are no longer enough people who may vote.')}</p>
      )}
      <ul className="grid gap-1">
        {approvers.map(({ id, user, decision, comment, votedAt }) => (
          <li key={id} className={decision === null ? 'text-quiet' : ''}>
            <span className="font-medium">{nameOf(user)}</span>{' '}
            {decision === null ? t('has not voted') : words[decision]}
            {votedAt !== null && ` · ${formatTime(votedAt)}`}
            {comment !== null && ` · ${comment}`}
          </li>
        ))}
      </ul>
    </Card>
  )
}

type DecideProps = { code: string; payout: Payout; decision: Decision; done: () => void }

/** The vote names the hash of the list that is shown, so that no other list can be meant. */
function Decide({ code, payout, decision, done }: DecideProps) {
  const [comment, setComment] = useState('')
  const vote = useMutation({
    mutationFn: () => {
      const { payouts } = vaultOf(code)
      if (decision === 'cancel') return payouts.cancel(payout.id)
      const body = { payloadHash: payout.payloadHash, ...(comment.trim() === '' ? {} : { comment: comment.trim() }) }
      return decision === 'approve' ? payouts.approve(payout.id, body) : payouts.reject(payout.id, body)
    },
    onSuccess: () => {
      for (const key of [['payouts', code], ['inbox'], ['history', code]])
        void queryClient.invalidateQueries({ queryKey: key })
      announce(t('Done'))
      done()
    },
  })
  return (
    <>
      <Problem error={vote.error} />
      <p className="mb-3 text-2xl font-semibold">
        <Sums sums={payout.sums} />
      </p>
      <p className="mb-3">{t('{count, plural, one {# payment} other {# payments}}', { count: payout.rowsCount })}</p>
      {decision !== 'cancel' && (
        <TextField label={t('Comment')} value={comment} onChange={({ target }) => setComment(target.value)} />
      )}
      <Button look={decision === 'approve' ? 'primary' : 'danger'} busy={vote.isPending} onClick={() => vote.mutate()}>
        {t('Confirm')}
      </Button>
    </>
  )
}

function Rows({ code, id }: { code: string; id: string }) {
  const query = useInfiniteQuery(payoutRowsQuery(code, id))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(() => rowColumns(code), [code])
  return (
    <ListState query={query} isEmpty={rows.length === 0} empty={null}>
      <DataTable caption={t('Payments')} columns={columns} rows={rows} rowKey={({ row }) => String(row)} more={query} />
    </ListState>
  )
}

function rowColumns(code: string): Column<PayoutRow>[] {
  return [
    { id: 'row', header: t('Row'), cell: ({ row }) => <span className="figures text-quiet">{row}</span> },
    {
      id: 'externalId',
      header: t('Reference'),
      cell: ({ externalId, transferId }) => (
        <Link to={`/v/${code}/transfers/${transferId}` as '/'} className="text-accent hover:underline">
          {externalId}
        </Link>
      ),
    },
    {
      id: 'to',
      header: t('To'),
      cell: ({ toAddress, counterpartyName }) => <Address address={toAddress} name={counterpartyName} />,
    },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: ({ amountDecimal, asset }) => <Amount decimal={amountDecimal} unit={asset} />,
    },
    {
      id: 'status',
      header: t('State'),
      cell: ({ status, failureReason, haltReason }) => (
        <span className="inline-grid gap-0.5">
          <span>
            <OperationStatus status={status} />
          </span>
          {(failureReason ?? haltReason) !== null && (
            <span className="text-[0.8125rem] text-bad">{failureReason ?? haltReason}</span>
          )}
        </span>
      ),
    },
  ]
}
