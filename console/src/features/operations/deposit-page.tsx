import type { Deposit } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatTimeInFull } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card, Facts, Page, TwoColumns } from '../../ui/page.tsx'
import { LateRate } from './late-rate.tsx'
import { MetadataCard } from './metadata-card.tsx'
import { addressQuery, depositQuery } from './queries.ts'
import { RelationsCard } from './relations-card.tsx'
import { ScreeningCard } from './screening-card.tsx'
import { TransactionHash } from './transaction-hash.tsx'
import { rateWords } from './transfer-facts.tsx'

type DepositPageProps = { code: string; id: string; categories: ReactNode }

export function DepositPage({ code, id, categories }: DepositPageProps) {
  const query = useQuery(depositQuery(code, id))
  return (
    <DetailState query={query}>
      {query.data !== undefined && <Detail code={code} deposit={query.data} categories={categories} />}
    </DetailState>
  )
}

function Detail({ code, deposit, categories }: { code: string; deposit: Deposit; categories: ReactNode }) {
  const { isAdmin } = useViewer(code)
  const { data: address } = useQuery(addressQuery(code, deposit.addressId))
  const operation = { code, type: 'deposit', id: deposit.id } as const
  return (
    <Page title={titleOf(deposit)}>
      <Card>
        <div className="flex flex-wrap items-start justify-between gap-3">
          <div>
            <Amount decimal={deposit.amountDecimal} unit={deposit.assetSymbol} className="text-2xl font-semibold" />
            <div className="text-quiet">
              <Usd value={deposit.usdValue} />
              {deposit.usdValue === null && isAdmin && <LateRate operation={operation} />}
            </div>
          </div>
          <span className="flex flex-wrap gap-2">
            {deposit.isDust && <Badge tone="warn">{t('Dust')}</Badge>}
            <OperationStatus status={statusOf(deposit)} />
          </span>
        </div>
        {deposit.outcome === 'quarantined' && (
          <p className="mt-3 rounded-md bg-warn-soft p-3 text-warn">{quarantineWords(deposit.reason)}</p>
        )}
        {deposit.orphaned !== null && <Orphaned deposit={deposit} orphaned={deposit.orphaned} />}
      </Card>
      <TwoColumns
        main={
          <>
            <DepositFacts code={code} deposit={deposit} />
            <ScreeningCard screening={deposit.screening} />
          </>
        }
        side={
          <>
            {categories}
            <MetadataCard
              operation={operation}
              metadata={deposit.metadata}
              mayEdit={address?.access.isOwner ?? false}
            />
            <RelationsCard operation={operation} tokenId={deposit.tokenId} />
          </>
        }
      />
    </Page>
  )
}

function statusOf({ outcome, orphaned }: Deposit): string {
  if (outcome === 'quarantined') return 'quarantined'
  return orphaned === null ? 'confirmed' : 'failed'
}

type Orphan = NonNullable<Deposit['orphaned']>

/** The correction of the books after the chain lost the deposit. */
function Orphaned({ deposit: { assetSymbol: unit }, orphaned }: { deposit: Deposit; orphaned: Orphan }) {
  const { orphanedAt, takenDecimal, exposed, exposedDecimal } = orphaned
  return (
    <section aria-label={t('Lost by the chain')} className="mt-3 rounded-md bg-bad-soft p-3 text-bad">
      <p className="font-medium">
        {t('The chain no longer has this deposit, since {when}.', { when: formatTimeInFull(orphanedAt) })}
      </p>
      <p>{t('{amount} was taken back from the address.', { amount: `${formatAmount(takenDecimal)} ${unit}` })}</p>
      {exposed !== '0' && (
        <p>
          {t('{amount} had been spent or reserved. The address sends nothing until that is covered.', {
            amount: `${formatAmount(exposedDecimal)} ${unit}`,
          })}
        </p>
      )}
      <p>{t('It is credited once more if it comes back.')}</p>
    </section>
  )
}

function titleOf({ counterparty, flowType }: Deposit): string {
  if (counterparty !== null) return t('Deposit from {name}', { name: counterparty.name })
  return flowType === 'internal' ? t('Deposit from within the vault') : t('Deposit')
}

function quarantineWords(reason: Deposit['reason']): string {
  if (reason === 'amount_differs') {
    return t(
      'Held back: the wallet service reported this payment with another amount before. People have to examine it.',
    )
  }
  if (reason === 'orphan_differs') {
    return t(
      'The chain is said to have lost this deposit, but with another amount than was credited. Two people decide.',
    )
  }
  if (reason === 'overflow') return t('Held back: the balance would become larger than can be stored.')
  return t('Held back from the balance until people have examined it.')
}

function DepositFacts({ code, deposit }: { code: string; deposit: Deposit }) {
  const { address, fromAddress, counterparty, network } = deposit
  return (
    <Card title={t('Payment')}>
      <Facts
        facts={[
          [
            t('From'),
            <span key="from" className="grid justify-items-start">
              {counterparty !== null && (
                <Link
                  to={`/v/${code}/address-book/${counterparty.id}` as '/'}
                  className="font-medium text-accent underline"
                >
                  {counterparty.name}
                </Link>
              )}
              {fromAddress === null ? t('Sender unknown') : <Address address={fromAddress} copy />}
            </span>,
          ],
          [
            t('To'),
            <span key="to" className="grid justify-items-start">
              <Link to={`/v/${code}/addresses/${address.id}` as '/'} className="font-medium text-accent underline">
                {address.label ?? t('Address of the vault')}
              </Link>
              <Address address={address.address} copy />
            </span>,
          ],
          [t('Network'), network],
          [
            t('Transaction'),
            <TransactionHash key="hash" hash={deposit.txHash} network={network} index={deposit.index} />,
          ],
          [t('On the chain at'), deposit.blockchainAt === null ? null : formatTimeInFull(deposit.blockchainAt)],
          [t('Recorded at'), formatTimeInFull(deposit.createdAt)],
          [t('Rate'), rateWords(deposit)],
          [
            t('Id'),
            <span key="id" className="code">
              {deposit.id}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}
