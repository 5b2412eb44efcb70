import type { Transfer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense, useState } from 'react'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatTime, formatTimeLeft } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, type Fact, Facts, Page } from '../../ui/page.tsx'
import { Decide } from './decide.tsx'
import { transferQuery } from './queries.ts'
import type { Seen } from './signed-transfer.tsx'
import { Votes } from './votes.tsx'
import { isAlarming, recipientOf, statusOf } from './words.ts'

/** Draws the reasons of the policies for requiring votes. It is loaded on demand. */
type Why = ComponentType<{ code: string; transfer: Transfer }>

/** In a protected vault the order is decoded from the signed document. The decoder is loaded only where it is needed. */
const SignedTransfer = lazy(async () => ({ default: (await import('./signed-transfer.tsx')).SignedTransfer }))

/** The holds and warnings are loaded only where there are some. */
const RecipientAlarms = lazy(async () => ({ default: (await import('./recipient-alarms.tsx')).RecipientAlarms }))

const FeeLimit = lazy(async () => ({ default: (await import('./fee-limit.tsx')).FeeLimit }))

/** Everything that an approver needs to decide on a transfer. */
export function TransferApproval({ code, id, Why }: { code: string; id: string; Why: Why }) {
  const query = useQuery(transferQuery(code, id))
  return (
    <Page title={t('Approve a transfer')}>
      <DetailState query={query}>
        {query.data !== undefined && <Shown code={code} transfer={query.data} Why={Why} />}
      </DetailState>
    </Page>
  )
}

type DecisionProps = { code: string; transfer: Transfer; Why: Why }

function Shown(props: DecisionProps) {
  const { code, transfer } = props
  if (transfer.payload.expiresAt === undefined) return <Decision {...props} seen={unsigned(transfer)} />
  return (
    <Suspense>
      <SignedTransfer code={code} transfer={transfer}>
        {(seen) => <Decision {...props} seen={seen} />}
      </SignedTransfer>
    </Suspense>
  )
}

/** Returns the facts of the service, for a vault whose votes are not signed. */
function unsigned(transfer: Transfer): Seen {
  const { maxFee } = transfer.payload
  const facts: Fact[] = [
    [t('To'), <Address key="to" address={transfer.toAddress} name={recipientOf(transfer)} copy />],
    [t('From'), <Address key="from" address={transfer.fromAddress.address} />],
    [t('Network'), transfer.network],
    [
      t('Fee at most'),
      maxFee === undefined ? null : (
        <Suspense key="fee">
          <FeeLimit raw={maxFee} network={transfer.network} />
        </Suspense>
      ),
    ],
    [t('Asked by'), nameOf(transfer.initiator)],
  ]
  const amount = <Amount decimal={transfer.amountDecimal} unit={transfer.asset} />
  return { amount, facts: <Facts facts={facts} />, toSign: null }
}

function Decision({ code, transfer, Why, seen }: DecisionProps & { seen: Seen }) {
  const { word, tone } = statusOf(transfer.status)
  const isOpen = transfer.status === 'awaiting_approval'
  const { metadata, expiresAt, approvers, payloadHash, recipient, holds = [], isExposed, counterparty } = transfer
  const isHeld = holds.length > 0
  return (
    <>
      {isAlarming(transfer) && (
        <Suspense>
          <RecipientAlarms code={code} payments={[transfer]} />
        </Suspense>
      )}
      <Card>
        <div className="mb-3 flex flex-wrap items-start justify-between gap-3">
          <div>
            <p className="text-2xl font-semibold">{seen.amount}</p>
            <Usd value={transfer.usdValue} className="text-quiet" />
          </div>
          <Badge tone={tone}>{word}</Badge>
        </div>
        <div className="mb-2">{seen.facts}</div>
        <Facts
          facts={[
            [t('Recipient'), recipient ? <RecipientSigns key="signs" signs={recipient} /> : null],
            [
              t('Recipient at the order'),
              recipient && counterparty && counterparty.id !== recipient.counterparty?.id ? counterparty.name : null,
            ],
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
      <Reasons code={code} transfer={transfer} Why={Why} />
      <Votes
        requirements={transfer.approvalRequirements}
        approvers={approvers}
        quorumReachable={transfer.quorumReachable}
      />
      <Decide
        subject={{
          ...{ kind: 'transfer', code, shown: transfer, isOpen, toSign: seen.toSign },
          heldBecause: isHeld ? t('It is held: nobody can vote on it now.') : null,
          notApprovedBecause: isExposed ? t('The address that pays sends nothing now') : null,
        }}
        summary={
          <>
            <p className="mb-2 text-xl font-semibold">{seen.amount}</p>
            {seen.facts}
          </>
        }
      />
    </>
  )
}

/** Facts of the vault about the recipient. The service answers them to the voters only. */
function RecipientSigns({ signs }: { signs: NonNullable<Transfer['recipient']> }) {
  return (
    <div className="mt-1">
      {signs.isFirstPayment ? (
        <Badge tone="warn">{t('Never paid before')}</Badge>
      ) : (
        <Badge tone="neutral">{t('Paid before')}</Badge>
      )}
      {signs.counterparty?.isArchived && <Badge tone="bad">{t('Archived in the address book')}</Badge>}
    </div>
  )
}

function Reasons({ code, transfer, Why }: { code: string; transfer: Transfer; Why: Why }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <p className="mb-4 flex flex-wrap gap-x-6 gap-y-2">
        {!isOpen && (
          <button type="button" className="text-accent underline" onClick={() => setOpen(true)}>
            {t('Why it needs votes')}
          </button>
        )}
        <Link to="/v/$code/transfers/$id" params={{ code, id: transfer.id }} className="text-accent underline">
          {t('All about this transfer')}
        </Link>
      </p>
      {isOpen && (
        <Suspense>
          <Why code={code} transfer={transfer} />
        </Suspense>
      )}
    </>
  )
}
