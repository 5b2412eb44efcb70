import type { Network } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { latest } from '../../lib/images.ts'
import { t } from '../../lib/language.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { ExplorerForm } from './explorer-form.tsx'
import { networksQuery } from './queries.ts'

/** The networks that vaults of this installation can use, and their links to block explorers. */
export function Networks() {
  const [edited, setEdited] = useState<Network | null>(null)
  const query = useInfiniteQuery(networksQuery)
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<Network>[] = [
    { id: 'name', header: t('Network'), cell: (network) => <Name network={network} /> },
    { id: 'slug', header: t('Name in requests'), cell: ({ slug }) => <span className="code">{slug}</span> },
    { id: 'type', header: t('Kind'), cell: ({ type }) => kindWord(type) },
    { id: 'coin', header: t('Coin type'), align: 'end', cell: ({ coinType }) => coinType },
    { id: 'explorer', header: t('Block explorer'), cell: (network) => <ExplorerLinks network={network} /> },
    {
      id: 'actions',
      header: t('Actions'),
      cell: (network) => (
        <Button look="quiet" onClick={() => setEdited(network)} aria-label={t('Change {name}', { name: network.name })}>
          {t('Change')}
        </Button>
      ),
    },
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
      <Sheet
        title={t('Change {name}', { name: edited?.name ?? '' })}
        open={edited !== null}
        onClose={() => setEdited(null)}
      >
        {edited !== null && <ExplorerForm network={latest(rows, edited)} onDone={() => setEdited(null)} />}
      </Sheet>
    </ListState>
  )
}

function Name({ network: { name, logoUri } }: { network: Network }) {
  return (
    <span className="flex items-center gap-2 font-medium">
      <Avatar name={name} image={logoUri} />
      {name}
    </span>
  )
}

function ExplorerLinks({ network: { explorerTxUrl, explorerAddressUrl } }: { network: Network }) {
  const links = [explorerTxUrl, explorerAddressUrl].filter((link) => link !== null)
  if (links.length === 0) return '–'
  return links.map((link) => (
    <span key={link} className="code block [overflow-wrap:anywhere]">
      {link}
    </span>
  ))
}

function kindWord(type: Network['type']): string {
  const words = {
    evm: 'EVM',
    bitcoin: 'Bitcoin',
    litecoin: 'Litecoin',
    tron: 'Tron',
    solana: 'Solana',
    other: t('Other'),
  }
  return words[type]
}
