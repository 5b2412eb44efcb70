import type { InboxItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { formatTimeInFull, formatTimeLeft } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { pathOf, subjectOf } from '../approvals/queries.ts'
import { waitingQuery } from './queries.ts'

/** The items of this vault that wait for the reader's vote, and their number in other vaults. */
export function WaitingCard({ code }: { code: string }) {
  const query = useQuery(waitingQuery)
  const items = query.data?.items ?? []
  const here = items.filter(({ vault }) => vault.code === code)
  const elsewhere = items.length - here.length
  return (
    <Card
      title={t('Waits for you')}
      actions={
        <Link to={`/v/${code}/approvals` as '/'} className="text-accent underline">
          {t('All approvals')}
        </Link>
      }
    >
      <ListState query={query} isEmpty={here.length === 0} empty={<p>{t('Nothing waits for your vote.')}</p>} rows={3}>
        <ul className="divide-y divide-line">
          {here.slice(0, 5).map((item) => (
            <Waiting key={item.id} item={item} />
          ))}
        </ul>
      </ListState>
      {elsewhere > 0 && (
        <p className="mt-2 text-quiet">
          {t('{count, plural, one {# more waits} other {# more wait}} in other vaults.', { count: elsewhere })}
        </p>
      )}
    </Card>
  )
}

function Waiting({ item }: { item: InboxItem }) {
  const { transfer, initiator, expiresAt } = item
  return (
    <li className="py-2">
      <Link to={pathOf(item) as '/'} className="flex flex-wrap justify-between gap-x-3 font-medium hover:text-accent">
        <span className="min-w-0 [overflow-wrap:anywhere]">
          {transfer === null ? subjectOf(item) : t('To {name}', { name: transfer.recipientName ?? transfer.toAddress })}
        </span>
        {transfer !== null && <Amount decimal={transfer.amountDecimal} unit={transfer.token.symbol} />}
      </Link>
      <span className="text-[0.8125rem] text-quiet">
        {t('asked by {name}', { name: initiator.name })}
        {expiresAt !== null && (
          <span title={formatTimeInFull(expiresAt)}> · {t('{time} left', { time: formatTimeLeft(expiresAt) })}</span>
        )}
      </span>
    </li>
  )
}
