import type { Balances, BalanceTimeline } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { shorten } from '../../lib/shorten.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Digits, Usd } from '../../ui/amount.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import { balancesQuery, timelineQuery } from './queries.ts'

/** The balance per token, and its reserved part. */
export function BalancesCard({ code }: { code: string }) {
  const { isAdmin, isAuditor } = useViewer(code)
  const query = useQuery(balancesQuery(code))
  const { data: timeline } = useQuery(timelineQuery(code, 30))
  return (
    <Card title={t('Balances')}>
      {query.data !== undefined && query.data.totals.length > 0 && <TotalValue balances={query.data} />}
      <p className="mb-2 text-[0.8125rem] text-quiet">
        {isAdmin || isAuditor ? t('Over the whole vault') : t('Over your addresses and those shared with you')}
      </p>
      <ListState
        query={query}
        isEmpty={query.data?.totals.length === 0}
        empty={
          <>
            <p>{t('There is nothing here yet. Deposits to an address of the vault appear on their own.')}</p>
            <Link to={`/v/${code}/addresses` as '/'} className="text-accent underline">
              {t('Show the addresses')}
            </Link>
          </>
        }
        rows={3}
      >
        <table className="w-full">
          <caption className="sr-only">{t('Balances per token')}</caption>
          <thead className="text-[0.8125rem] text-quiet">
            <tr>
              <th scope="col" className="py-1 text-left font-medium">
                {t('Token')}
              </th>
              <th scope="col" className="py-1 pl-3 text-left font-medium max-sm:hidden">
                {t('30 days')}
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-medium">
                {t('Available')}
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-medium">
                {t('Reserved')}
              </th>
            </tr>
          </thead>
          <tbody>
            {query.data?.totals.map((total) => (
              <Balance key={total.token.code} total={total} points={pointsOf(timeline, total.token.code)} />
            ))}
          </tbody>
        </table>
      </ListState>
    </Card>
  )
}

/** The whole value in USD. Tokens without a rate are left out, and the card says so. */
function TotalValue({ balances }: { balances: Balances }) {
  const { usdValue, usdComplete } = balances
  return (
    <p className="text-2xl font-semibold">
      <Usd value={usdValue} />
      {!usdComplete && (
        <span className="ml-3 text-[0.8125rem] font-normal text-warn">{t('without tokens whose rate is unknown')}</span>
      )}
    </p>
  )
}

type BalanceProps = { total: Balances['totals'][number]; points: (number | null)[] }

function Balance({ total, points }: BalanceProps) {
  const { token, availableDecimal, reservedDecimal, exposure, exposureDecimal, usdValue } = total
  return (
    <tr className="border-t border-line">
      <th scope="row" className="py-2 text-left font-medium">
        {token.symbol}
        <span className="block text-[0.8125rem] font-normal text-quiet">
          <Usd value={usdValue} />
        </span>
      </th>
      <td className="py-2 pl-3 max-sm:hidden">
        <Sparkline values={points} label={t('Balance of {token} in the last 30 days', { token: token.symbol })} />
      </td>
      <td className="py-2 pl-3 text-right">
        <ShortAmount decimal={availableDecimal} unit={token.symbol} />
        {exposure !== '0' && (
          <span className="block text-[0.8125rem] text-bad" title={t('Spent of deposits that the chain took back')}>
            {t('Exposed by {amount}', { amount: `${formatAmount(exposureDecimal)} ${token.symbol}` })}
          </span>
        )}
      </td>
      <td className="py-2 pl-3 text-right text-quiet">
        <ShortAmount decimal={reservedDecimal} unit={token.symbol} />
      </td>
    </tr>
  )
}

/** An amount with at most eight decimals, and the exact amount on demand. */
function ShortAmount({ decimal, unit }: { decimal: string; unit: string }) {
  const shown = shorten(decimal)
  const isCut = shown !== decimal
  return (
    <span className="figures" title={isCut ? `${formatAmount(decimal)} ${unit}` : undefined}>
      <Digits text={formatAmount(shown) + (isCut ? '…' : '')} /> <span className="text-quiet">{unit}</span>
    </span>
  )
}

/** Returns the points of a curve. A curve needs only the precision of a number. */
function pointsOf(timeline: BalanceTimeline | undefined, code: string): (number | null)[] {
  const points = timeline?.tokens.find(({ token }) => token.code === code)?.points ?? []
  return points.map(({ totalDecimal }) => Number(totalDecimal))
}
