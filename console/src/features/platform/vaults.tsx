import type { Vault } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { vaultsQuery } from './queries.ts'
import { VaultForm } from './vault-form.tsx'

/** The vaults of the reader, and the link to create a vault. */
export function Vaults() {
  const [open, setOpen] = useState(false)
  const query = useInfiniteQuery(vaultsQuery)
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<Vault>[] = [
    {
      id: 'name',
      header: t('Vault'),
      cell: ({ code, name }) => (
        <Link to="/v/$code" params={{ code }} className="font-medium text-accent underline">
          {name}
        </Link>
      ),
    },
    { id: 'code', header: t('Code'), cell: ({ code }) => <span className="code">{code}</span> },
    { id: 'networks', header: t('Networks'), cell: ({ networks }) => networks.map(({ name }) => name).join(', ') },
    {
      id: 'state',
      header: t('State'),
      cell: ({ lockedAt }) =>
        lockedAt === null ? <Badge tone="warn">{t('Draft')}</Badge> : <Badge tone="good">{t('In use')}</Badge>,
    },
    { id: 'since', header: t('Since'), cell: ({ createdAt }) => formatDay(createdAt) },
  ]
  return (
    <>
      <div className="mb-3 flex justify-end">
        <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => setOpen(true)}>
          {t('New vault')}
        </Button>
      </div>
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        empty={<p>{t('There is no vault yet. Create the first one.')}</p>}
      >
        <Card>
          <SmallTable caption={t('Vaults')} columns={columns} rows={rows} rowKey={({ id }) => id} first={100} />
        </Card>
      </ListState>
      <Sheet title={t('New vault')} open={open} onClose={() => setOpen(false)} wide>
        <VaultForm />
      </Sheet>
    </>
  )
}
