import type { Transfer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatTime, formatTimeLeft } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Decide } from './decide.tsx'
import { transferQuery } from './queries.ts'
import { Votes } from './votes.tsx'
import { statusOf } from './words.ts'

/** One screen with all that an approver needs to decide on a transfer. */
export function TransferApproval({ code, id }: { code: string; id: string }) {
  const query = useQuery(transferQuery(code, id))
  return (
    <Page title={t('Approve a transfer')}>
      <DetailState query={query}>
        {query.data !== undefined && <Decision code={code} transfer={query.data} />}
      </DetailState>
    </Page>
  )
}

function Decision({ code, transfer }: { code: string; transfer: Transfer }) {
  const { word, tone } = statusOf(transfer.status)
  const isOpen = transfer.status === 'awaiting_approval'
  const { metadata, expiresAt, approvers, payloadHash } = transfer
  return (
    <>
      <Card>
        <div className="mb-3 flex flex-wrap items-start justify-between gap-3">
          <div>
            <p className="text-2xl font-semibold">
              <Amount decimal={transfer.amountDecimal} unit={transfer.asset} />
            </p>
            <Usd value={transfer.usdValue} className="text-quiet" />
          </div>
          <Badge tone={tone}>{word}</Badge>
        </div>
        <Facts
          facts={[
            [
              t('To'),
              <Address
                key="to"
                address={transfer.toAddress}
                name={transfer.counterparty?.name ?? t('Not in the address book')}
                copy
              />,
            ],
            [t('From'), <Address key="from" address={transfer.fromAddress.address} />],
            [t('Network'), transfer.network],
            [t('Asked by'), nameOf(transfer.initiator)],
            [t('Purpose'), metadata.paymentPurpose],
            [t('Note'), metadata.note],
            [t('Asked at'), formatTime(transfer.createdAt)],
            [t('Time left'), isOpen && expiresAt !== null ? formatTimeLeft(expiresAt) : null],
            [t('Failed because'), transfer.failureReason],
            [t('Halted because'), transfer.haltReason],
          ]}
        />
        <p className="mt-3 text-[0.8125rem] text-quiet">
          {t('Your vote is bound to exactly this order:')}{' '}
          <span className="code [overflow-wrap:anywhere]">{payloadHash}</span>
        </p>
      </Card>
      <Votes
        requirements={transfer.approvalRequirements}
        approvers={approvers}
        quorumReachable={transfer.quorumReachable}
      />
      <Decide
        subject={{ kind: 'transfer', code, shown: transfer, isOpen }}
        summary={
          <>
            <p className="text-xl font-semibold">
              <Amount decimal={transfer.amountDecimal} unit={transfer.asset} />
            </p>
            <p>
              <Address address={transfer.toAddress} name={transfer.counterparty?.name} />
            </p>
          </>
        }
      />
    </>
  )
}
