import type { InboxItem } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { subjectOf } from './words.ts'

/** The subject of an item of the inbox, in one line. */
export function ItemTitle({ item }: { item: InboxItem }) {
  if (item.transfer === null) return subjectOf(item)
  const { amountDecimal, token, recipientName, toAddress } = item.transfer
  return (
    <>
      <Amount decimal={amountDecimal} unit={token.code} /> {t('to {name}', { name: recipientName ?? '' })}
      {recipientName === null && <Address address={toAddress} />}
    </>
  )
}
