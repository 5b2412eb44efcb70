import { fromRaw } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { Amount } from '../../ui/amount.tsx'
import { tokensQuery } from '../operations/queries.ts'

/** The highest fee of an order, in the coin of its network. It is loaded only where an order has a limit. */
export function FeeLimit({ raw, network }: { raw: string; network: string }) {
  const { data: tokens, isPending } = useQuery(tokensQuery)
  if (isPending) return '…'
  const coin = tokens?.find((token) => token.network === network && token.contractAddress === null)
  if (coin === undefined) return <Amount decimal={raw} unit={t('in the smallest unit')} />
  return <Amount decimal={fromRaw(raw, coin)} unit={coin.symbol} />
}
