import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { AddressFilters } from '../features/addresses/address-filters.tsx'
import { AddressTable } from '../features/addresses/address-table.tsx'
import { CreateAddress } from '../features/addresses/create-address.tsx'
import { addressesQuery } from '../features/addresses/queries.ts'
import { useSelection } from '../features/addresses/selection.ts'
import { needsAsking, putInto, takeOut } from '../features/folders/actions.ts'
import { FolderHeader } from '../features/folders/folder-header.tsx'
import { FolderForm } from '../features/folders/folder-sheets.tsx'
import { FolderTree, type Place } from '../features/folders/folder-tree.tsx'
import { type Move, PutIntoFolder } from '../features/folders/put-into-folder.tsx'
import { foldersQuery } from '../features/folders/queries.ts'
import type { Movable } from '../lib/dragged.ts'
import { messageOf } from '../lib/error-words.ts'
import { t } from '../lib/language.ts'
import { membershipQuery } from '../lib/membership.ts'
import { Button } from '../ui/button.tsx'
import { ListState } from '../ui/list-states.tsx'
import { Page } from '../ui/page.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { announce } from '../ui/toast.tsx'

type Search = { folder?: string; access?: 'own' | 'shared' | 'all'; search?: string; token?: string }

export const Route = createFileRoute('/v/$code/addresses/')({
  validateSearch: ({ folder, access, search, token }: Record<string, unknown>): Search => ({
    ...(typeof folder === 'string' ? { folder } : {}),
    ...(access === 'own' || access === 'shared' || access === 'all' ? { access } : {}),
    ...(typeof search === 'string' ? { search } : {}),
    ...(typeof token === 'string' ? { token } : {}),
  }),
  component: Addresses,
})

function Addresses() {
  const { code } = Route.useParams()
  const { folder: folderId, access, search, token } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const me = useQuery(membershipQuery(code)).data
  const folders = useQuery(foldersQuery(code)).data ?? []
  const isAuditor = me?.isAuditor === true
  const readsAll = me?.isAdmin === true || isAuditor
  const place: Place = folderId !== undefined ? { folderId } : { access: access ?? (readsAll ? 'all' : 'own') }
  const query = useInfiniteQuery(addressesQuery(code, { ...place, search, token }))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [move, setMove] = useState<Move | null>(null)
  const [shown, show] = useState<'address' | 'folder' | null>(null)
  const selection = useSelection(rows, (addresses) => setMove({ addresses, folder: null }))
  const folder = folders.find(({ id }) => id === folderId) ?? null
  const open = (to: Place) => {
    selection.clear()
    void navigate({ search: 'folderId' in to ? { folder: to.folderId } : to })
  }
  const drop = (target: Move['folder'], addresses: Movable[]) => {
    if (target === null && folder !== null) void say(takeOut(code, folder, addresses)).then(selection.clear)
    else if (target !== null && needsAsking(target, addresses)) setMove({ addresses, folder: target })
    else if (target !== null) void say(putInto(code, target, addresses)).then(selection.clear)
  }
  const isFiltered = search !== undefined || token !== undefined
  return (
    <Page
      title={t('Addresses')}
      actions={
        me?.may.create_address !== 'deny' && (
          <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => show('address')}>
            {t('New address')}
          </Button>
        )
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-[14rem_1fr]">
        <div>
          <FolderTree
            folders={folders}
            readsAll={readsAll}
            place={place}
            open={open}
            onDrop={drop}
            create={isAuditor ? null : () => show('folder')}
          />
        </div>
        <div className="min-w-0 rounded-lg border border-line bg-paper p-4">
          {folder !== null && <FolderHeader code={code} folder={folder} deleted={() => open({ access: 'all' })} />}
          <AddressFilters
            search={search ?? ''}
            token={token ?? ''}
            change={(part) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true })}
            selected={selection.selected.size}
            moveSelected={() => setMove({ addresses: selection.moving(), folder: null })}
            clearSelection={selection.clear}
          />
          <ListState
            query={query}
            isEmpty={rows.length === 0}
            empty={<EmptyPlace isFolder={folder !== null} />}
            clearFilter={isFiltered ? () => open(place) : undefined}
          >
            <AddressTable code={code} rows={rows} more={query} selection={selection} />
          </ListState>
        </div>
      </div>
      <PutIntoFolder code={code} move={move} from={folder} change={setMove} done={selection.clear} />
      <Sheet title={t('New folder')} open={shown === 'folder'} onClose={() => show(null)}>
        <FolderForm code={code} folder={null} done={() => show(null)} />
      </Sheet>
      <Sheet title={t('New address')} open={shown === 'address'} onClose={() => show(null)}>
        <CreateAddress code={code} done={() => show(null)} />
      </Sheet>
    </Page>
  )
}

function EmptyPlace({ isFolder }: { isFolder: boolean }) {
  return (
    <p>
      {isFolder
        ? t('This folder is empty. Drag addresses onto it, or press m on a row.')
        : t('There is no address here yet. A new one takes a few seconds, and can then receive.')}
    </p>
  )
}

/** Shows the error of an action by dragging. */
async function say(done: Promise<void>): Promise<void> {
  await done.catch((error: unknown) => announce(messageOf(error)))
}
