import type { Transfer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../../lib/language.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Amount, Usd } from '../../ui/amount.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card, Page, TwoColumns } from '../../ui/page.tsx'
import { Stepper } from '../../ui/stepper.tsx'
import { DecisionCard } from './decision-card.tsx'
import { LateRate } from './late-rate.tsx'
import { MetadataCard } from './metadata-card.tsx'
import { addressQuery, transferQuery } from './queries.ts'
import { RelationsCard } from './relations-card.tsx'
import { HaltedTransfer } from './resolve-transfer.tsx'
import { ScreeningCard } from './screening-card.tsx'
import { stepsOf } from './steps.ts'
import { CancelTransfer, EvidenceButton } from './transfer-actions.tsx'
import { TransferFacts } from './transfer-facts.tsx'
import { ReplaceTransaction, StuckBanner } from './transfer-replacement.tsx'
import { VotesCard } from './votes-card.tsx'

type TransferPageProps = {
  code: string
  id: string
  /** The categories of the transfer, drawn by the feature `tagging`. */
  categories: ReactNode
}

export function TransferPage({ code, id, categories }: TransferPageProps) {
  const query = useQuery(transferQuery(code, id))
  return (
    <DetailState query={query}>
      {query.data !== undefined && <Detail code={code} transfer={query.data} categories={categories} />}
    </DetailState>
  )
}

function Detail({ code, transfer, categories }: { code: string; transfer: Transfer; categories: ReactNode }) {
  const { userId, isAdmin } = useViewer(code)
  const { data: source } = useQuery(addressQuery(code, transfer.fromAddressId))
  const operation = { code, type: 'transfer', id: transfer.id } as const
  const mayCancel = transfer.status === 'awaiting_approval' && (isAdmin || transfer.initiator.id === userId)
  const isOnItsWay = transfer.status === 'pending' && transfer.txHash !== null && transfer.haltReason === null
  const mayReplace = isAdmin || transfer.initiator.id === userId || (source?.access.isOwner ?? false)
  const isHalted =
    transfer.haltReason !== null && (transfer.status === 'awaiting_approval' || transfer.status === 'pending')
  const actions = (
    <>
      {isAdmin && <EvidenceButton code={code} id={transfer.id} />}
      {isOnItsWay && mayReplace && <ReplaceTransaction code={code} transfer={transfer} />}
      {mayCancel && <CancelTransfer code={code} transfer={transfer} />}
    </>
  )
  return (
    <Page title={titleOf(transfer)} actions={actions}>
      {transfer.stuckSince !== null && (
        <StuckBanner stuckSince={transfer.stuckSince} mayReplace={isOnItsWay && mayReplace} />
      )}
      <Card>
        <div className="mb-5 flex flex-wrap items-start justify-between gap-3">
          <div>
            <Amount decimal={transfer.amountDecimal} unit={transfer.assetSymbol} className="text-2xl font-semibold" />
            <div className="text-quiet">
              <Usd value={transfer.usdValue} />
              {transfer.usdValue === null && isAdmin && <LateRate operation={operation} />}
            </div>
          </div>
          <OperationStatus status={transfer.status} />
        </div>
        <Stepper label={t('Progress of the transfer')} steps={stepsOf(transfer)} />
      </Card>
      <TwoColumns
        main={
          <>
            {isHalted && <HaltedTransfer code={code} transfer={transfer} mayAsk={isAdmin} />}
            <TransferFacts code={code} transfer={transfer} sourceLabel={source?.label ?? null} />
            <ScreeningCard screening={transfer.screening} />
            <DecisionCard code={code} transfer={transfer} />
            <VotesCard code={code} transfer={transfer} />
          </>
        }
        side={
          <>
            {categories}
            <MetadataCard
              operation={operation}
              metadata={transfer.metadata}
              mayEdit={source?.access.isOwner ?? false}
            />
            <RelationsCard operation={operation} tokenId={transfer.tokenId} />
          </>
        }
      />
    </Page>
  )
}

function titleOf({ counterparty, flowType }: Transfer): string {
  if (counterparty !== null) return t('Transfer to {name}', { name: counterparty.name })
  return flowType === 'internal' ? t('Transfer within the vault') : t('Transfer')
}
