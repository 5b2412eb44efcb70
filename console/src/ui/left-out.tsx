import type { PayoutRow } from '@strongroom/sdk'
import { t } from '../lib/language.ts'
import { Address } from './address.tsx'
import { Amount } from './amount.tsx'

type Row = Pick<PayoutRow, 'row' | 'externalId' | 'toAddress' | 'amountDecimal' | 'asset'> & { name?: string | null }

/** Rows of a payout that are not paid. */
export function LeftOut({ rows }: { rows: readonly Row[] }) {
  return (
    <ul className="grid gap-2">
      {rows.map(({ row, externalId, toAddress, name = null, amountDecimal, asset }) => (
        <li key={row} className="rounded-md border border-line bg-paper p-2">
          <span className="flex flex-wrap justify-between gap-x-3">
            <span className="[overflow-wrap:anywhere]">{t('Row {row}: {what}', { row, what: externalId })}</span>
            <Amount decimal={amountDecimal} unit={asset} />
          </span>
          <Address address={toAddress} name={name} />
        </li>
      ))}
    </ul>
  )
}

/** Tells a reader of a payout which rows of the payout before it are left out. */
export function LeftOutBefore({ rows }: { rows: readonly Row[] }) {
  const title = t('{count, plural, one {# payment was left out} other {# payments were left out}}', {
    count: rows.length,
  })
  return (
    <section aria-label={title} className="mb-4 rounded-lg border border-warn bg-warn-soft p-3">
      <p className="mb-1 font-medium">{title}</p>
      <p className="mb-2">
        {t('This payout takes the place of another one, whose votes do not count for it. These are not paid:')}
      </p>
      <LeftOut rows={rows} />
    </section>
  )
}
