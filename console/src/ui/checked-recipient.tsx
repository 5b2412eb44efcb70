import type { CheckedRecipient } from '@strongroom/sdk'
import { t } from '../lib/language.ts'
import { Compared } from './compared.tsx'

/** Shows the owner of an address, or the addresses that it resembles beside it, with the differing characters marked. */
export function CheckedDetails({ address, checked }: { address: string; checked: CheckedRecipient | null }) {
  if (checked === null) return null
  const { known, lookAlikes } = checked
  if (known !== null)
    return (
      <span className="text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">
        {[known.name ?? t('Own address'), known.label].filter(Boolean).join(' · ')}
      </span>
    )
  if (lookAlikes.length === 0) return null
  return (
    <dl className="grid gap-1 text-[0.8125rem]">
      <Compared name={t('To be paid')} address={address} other={lookAlikes[0]!.address} />
      {lookAlikes.map((alike) => (
        <Compared key={alike.address} name={alike.name ?? t('Paid before')} address={alike.address} other={address} />
      ))}
    </dl>
  )
}
