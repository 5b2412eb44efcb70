import type { Network } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import type { Column } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { networksQuery } from './queries.ts'

/** The networks that vaults of this installation can use. */
export function Networks() {
  const query = useInfiniteQuery(networksQuery)
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<Network>[] = [
    { id: 'name', header: t('Network'), cell: ({ name }) => <span className="font-medium">{name}</span> },
    { id: 'slug', header: t('Name in requests'), cell: ({ slug }) => <span className="code">{slug}</span> },
    { id: 'type', header: t('Kind'), cell: ({ type }) => kindWord(type) },
    { id: 'coin', header: t('Coin type'), align: 'end', cell: ({ coinType }) => coinType },
  ]
  return (
    <ListState
      query={query}
      isEmpty={rows.length === 0}
      empty={<p>{t('There is no network. Networks come with the first vault that uses them.')}</p>}
    >
      <Card>
        <SmallTable caption={t('Networks')} columns={columns} rows={rows} rowKey={({ id }) => id} first={100} />
      </Card>
    </ListState>
  )
}

function kindWord(type: Network['type']): string {
  const words = { evm: 'EVM', bitcoin: 'Bitcoin', tron: 'Tron', solana: 'Solana', other: t('Other') }
  return words[type]
}
