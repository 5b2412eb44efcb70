import { fromRaw, type Transfer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatUsd } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatTimeInFull } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { tokensQuery } from './queries.ts'
import { TransactionHash } from './transaction-hash.tsx'

type TransferFactsProps = { code: string; transfer: Transfer; sourceLabel: string | null }

/** The source, the destination and the cost of a transfer. */
export function TransferFacts({ code, transfer, sourceLabel }: TransferFactsProps) {
  const { fromAddress, toAddress, counterparty, network, fee, txHash, txIndex, txHashes } = transfer
  const replaced = txHashes.filter((hash) => hash !== txHash)
  return (
    <Card title={t('Payment')}>
      <Facts
        facts={[
          [
            t('From'),
            <span key="from" className="grid justify-items-start">
              <Link to={`/v/${code}/addresses/${fromAddress.id}` as '/'} className="font-medium text-accent underline">
                {sourceLabel ?? t('Address of the vault')}
              </Link>
              <Address address={fromAddress.address} copy />
            </span>,
          ],
          [
            t('To'),
            <span key="to" className="grid justify-items-start">
              <Recipient code={code} transfer={transfer} />
              <Address address={toAddress} copy />
              {counterparty === null && transfer.flowType === 'external' && (
                <span className="text-[0.8125rem] text-quiet">{t('Not in the address book')}</span>
              )}
            </span>,
          ],
          [t('Network'), network],
          [t('Fee'), fee === null ? null : <Fee key="fee" raw={fee} network={network} usd={transfer.feeUsdValue} />],
          [
            t('Fee at most'),
            transfer.payload.maxFee === undefined ? null : (
              <Fee key="limit" raw={transfer.payload.maxFee} network={network} />
            ),
          ],
          [
            t('Transaction'),
            txHash === null ? null : <TransactionHash key="hash" hash={txHash} network={network} index={txIndex} />,
          ],
          [
            t('Replaced transactions'),
            replaced.length === 0 ? null : (
              <span key="replaced" className="grid gap-1">
                {replaced.map((hash) => (
                  <TransactionHash key={hash} hash={hash} network={network} />
                ))}
              </span>
            ),
          ],
          [t('Ordered by'), nameOf(transfer.initiator)],
          [t('Ordered at'), formatTimeInFull(transfer.createdAt)],
          [t('Confirmed at'), transfer.confirmedAt === null ? null : formatTimeInFull(transfer.confirmedAt)],
          [t('Rate'), rateWords(transfer)],
          [
            t('Id'),
            <span key="id" className="code">
              {transfer.id}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

function Recipient({ code, transfer: { counterparty, toAddressId } }: { code: string; transfer: Transfer }) {
  if (counterparty !== null) {
    return (
      <Link to={`/v/${code}/address-book/${counterparty.id}` as '/'} className="font-medium text-accent underline">
        {counterparty.name}
      </Link>
    )
  }
  if (toAddressId === null) return null
  return (
    <Link to={`/v/${code}/addresses/${toAddressId}` as '/'} className="font-medium text-accent underline">
      {t('Address of the vault')}
    </Link>
  )
}

/** A fee is paid in the coin of the network. */
function Fee({ raw, network, usd = null }: { raw: string; network: string; usd?: string | null }) {
  const { data: tokens = [] } = useQuery(tokensQuery)
  const coin = tokens.find((token) => token.network === network && token.contractAddress === null)
  if (coin === undefined) return <span className="figures">{raw}</span>
  return (
    <>
      <Amount decimal={fromRaw(raw, coin)} unit={coin.symbol} />
      {usd !== null && <span className="text-quiet"> ({formatUsd(usd)})</span>}
    </>
  )
}

export function rateWords(rated: Pick<Transfer, 'usdRate' | 'usdRateAsOf' | 'usdRateSource'>): string | null {
  if (rated.usdRate === null) return t('Unknown at the time of the order')
  return t('{rate} USD per unit, from {source}', { rate: rated.usdRate, source: rated.usdRateSource ?? '–' })
}
