import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Amount } from '../../ui/amount.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { balancesQuery } from './queries.ts'

/** What is there per token, and what of it is spoken for. */
export function BalancesCard({ code }: { code: string }) {
  const { isAdmin } = useViewer(code)
  const query = useQuery(balancesQuery(code))
  return (
    <Card title={t('Balances')}>
      <p className="mb-2 text-[0.8125rem] text-quiet">
        {isAdmin ? t('Over the whole vault') : t('Over your addresses and those shared with you')}
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
              <th scope="col" className="py-1 pl-3 text-right font-medium">
                {t('Available')}
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-medium">
                {t('Reserved')}
              </th>
            </tr>
          </thead>
          <tbody>
            {query.data?.totals.map(({ token, availableDecimal, reservedDecimal }) => (
              <tr key={token.code} className="border-t border-line">
                <th scope="row" className="py-2 text-left font-medium">
                  {token.symbol}
                </th>
                <td className="py-2 pl-3 text-right">
                  <Amount decimal={availableDecimal} unit={token.symbol} />
                </td>
                <td className="py-2 pl-3 text-right text-quiet">
                  <Amount decimal={reservedDecimal} unit={token.symbol} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ListState>
    </Card>
  )
}
