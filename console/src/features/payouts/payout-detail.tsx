import type { Payout, PayoutRow } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { nameOf, sessionQuery } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { LeftOutBefore } from '../../ui/left-out.tsx'
import { ListState, Skeleton } from '../../ui/list-states.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { isRowHeld, LeaveOut, useAllRows } from './leave-out.tsx'
import { PayoutState, Sums } from './payout-list.tsx'
import { payoutRowsQuery } from './queries.ts'

/** Payouts of protected vaults are decoded from the signed document. */
const SignedCancel = lazy(() => import('../../ui/signed-cancel.tsx'))

/** A payout: its payments, the votes, and the result of every payment. */
export function PayoutDetail({ code, payout }: { code: string; payout: Payout }) {
  const viewer = useQuery(sessionQuery).data?.user.id
  const [withdrawing, withdraw] = useState(false)
  const waits = payout.status === 'awaiting_approval'
  const [leaving, leave] = useState(false)
  const mayWithdraw = waits && payout.initiatorId === viewer
  const rows = useAllRows(code, payout, mayWithdraw)
  const heldCount = rows.filter(isRowHeld).length
  const mayLeaveOut = heldCount > 0 && heldCount < rows.length
  const mayVote = waits && payout.approvers.some(({ userId, canVote }) => userId === viewer && canVote)
  return (
    <Page
      title={payout.name ?? t('Payout')}
      actions={
        <>
          {mayVote && (
            <Link to={`/v/${code}/approvals/payout/${payout.id}` as '/'} className={buttonClass('primary')}>
              {t('Approve or reject …')}
            </Link>
          )}
          {mayLeaveOut && (
            <Button look="primary" onClick={() => leave(true)}>
              {t('{count, plural, one {Leave the held row out …} other {Leave # held rows out …}}', {
                count: heldCount,
              })}
            </Button>
          )}
          {mayWithdraw && <Button onClick={() => withdraw(true)}>{t('Withdraw …')}</Button>}
        </>
      }
    >
      {payout.replaces !== null && <LeftOutBefore rows={payout.replaces.leftOut} />}
      <Card>
        <Facts
          facts={[
            [t('State'), <PayoutState key="state" status={payout.status} />],
            [t('Why halted'), payout.haltReason],
            [
              t('Replaced by'),
              payout.replacedBy !== null && <PayoutLink key="in its place" code={code} id={payout.replacedBy} />,
            ],
            [
              t('Replaces'),
              payout.replaces !== null && <PayoutLink key="replaces" code={code} id={payout.replaces.payoutId} />,
            ],
            [t('Sum'), <Sums key="sums" sums={payout.sums} />],
            [t('Payments'), payout.rowsCount],
            [t('Purpose'), payout.paymentPurpose],
            [t('Ordered by'), nameOf(payout.initiator)],
            [t('Ordered'), formatTime(payout.createdAt)],
            [t('Votes until'), waits && payout.expiresAt !== null && formatTime(payout.expiresAt)],
            [t('Policy'), payout.decisionPolicyName],
          ]}
        />
      </Card>
      <Votes payout={payout} />
      <Card title={t('Payments')}>
        <Rows code={code} id={payout.id} />
      </Card>
      <Sheet title={t('Leave the held rows out?')} open={leaving && mayLeaveOut} onClose={() => leave(false)}>
        {leaving && mayLeaveOut && <LeaveOut {...{ code, payout, rows }} back={() => leave(false)} />}
      </Sheet>
      <Sheet title={t('Withdraw the payout?')} open={withdrawing} onClose={() => withdraw(false)}>
        {withdrawing && <Withdraw code={code} payout={payout} done={() => withdraw(false)} />}
      </Sheet>
    </Page>
  )
}

function PayoutLink({ code, id }: { code: string; id: string }) {
  return (
    <Link to={`/v/${code}/payouts/${id}` as '/'} className="text-accent hover:underline">
      {t('another payout')}
    </Link>
  )
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

type WithdrawProps = { code: string; payout: Payout; done: () => void }

function Withdraw({ code, payout, done }: WithdrawProps) {
  const onSuccess = () => {
    for (const key of [['payouts', code], ['inbox'], ['history', code]])
      void queryClient.invalidateQueries({ queryKey: key })
    announce(t('Done'))
    done()
  }
  const cancel = useMutation({ mutationFn: () => vaultOf(code).payouts.cancel(payout.id), onSuccess })
  const { id, payloadHash } = payout
  const rows = useInfiniteQuery(payoutRowsQuery(code, id))
  if (rows.isPending) return <Skeleton rows={4} />
  if (rows.data?.pages[0]?.items[0]?.payload.expiresAt !== undefined)
    return (
      <Suspense>
        <SignedCancel
          code={code}
          cancelled={{ kind: 'payout', id, payloadHash }}
          verb={t('Confirm')}
          onDone={onSuccess}
        />
      </Suspense>
    )
  return (
    <>
      <Problem error={cancel.error} />
      <p className="mb-3 text-2xl font-semibold">
        <Sums sums={payout.sums} />
      </p>
      <p className="mb-3">{t('{count, plural, one {# payment} other {# payments}}', { count: payout.rowsCount })}</p>
      <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
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
      cell: ({ toAddress, counterpartyName, recipient }) => (
        <Address address={toAddress} name={recipient?.counterparty?.name ?? counterpartyName} />
      ),
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
      cell: ({ status, failureReason, haltReason, holds = [] }) => (
        <span className="inline-grid gap-0.5">
          <span>
            <OperationStatus status={status} />
          </span>
          {holds.map((hold, index) => (
            <span key={hold.id ?? index} className="text-[0.8125rem] text-bad [overflow-wrap:anywhere]">
              {hold.reason === null ? t('Held') : t('Held: {subject}', { subject: hold.reason })}
            </span>
          ))}
          {(failureReason ?? haltReason) !== null && (
            <span className="text-[0.8125rem] text-bad">{failureReason ?? haltReason}</span>
          )}
        </span>
      ),
    },
  ]
}
