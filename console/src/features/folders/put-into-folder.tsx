import type { AddressGroup } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Users } from 'lucide-react'
import type { Movable } from '../../lib/dragged.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { toGrant } from '../../ui/use-sharing.ts'
import { needsAsking, putInto, takeOut } from './actions.ts'
import { folderGrantsQuery, foldersQuery } from './queries.ts'

/** Addresses on their way to a folder. `folder` is null until a folder is chosen. */
export type Move = { addresses: Movable[]; folder: AddressGroup | null }

type Props = {
  code: string
  move: Move | null
  /** The open folder, from which addresses can be removed. */
  from: AddressGroup | null
  change: (move: Move | null) => void
  done: () => void
}

/** Chooses a folder for addresses, and first says who will see them there. */
export function PutIntoFolder({ code, move, from, change, done }: Props) {
  const run = useMutation({
    mutationFn: (action: () => Promise<void>) => action(),
    onSuccess: () => {
      change(null)
      done()
    },
  })
  const put = (folder: AddressGroup, addresses: Movable[]) => run.mutate(() => putInto(code, folder, addresses))
  const title = move?.folder ? t('Put into {folder}?', { folder: move.folder.name }) : t('Put into a folder')
  return (
    <Sheet title={title} open={move !== null} onClose={() => change(null)}>
      <Problem error={run.error} />
      {move !== null && move.folder !== null && (
        <WhoWillSee code={code} move={move} folder={move.folder} busy={run.isPending} put={put} />
      )}
      {move !== null && move.folder === null && (
        <Choice
          code={code}
          addresses={move.addresses}
          choose={(folder) =>
            needsAsking(folder, move.addresses) ? change({ ...move, folder }) : put(folder, move.addresses)
          }
        />
      )}
      {move !== null && move.folder === null && from?.access === 'manager' && (
        <div className="mt-4 border-t border-line pt-4">
          <Button busy={run.isPending} onClick={() => run.mutate(() => takeOut(code, from, move.addresses))}>
            {t('Take out of {folder}', { folder: from.name })}
          </Button>
        </div>
      )}
    </Sheet>
  )
}

type ChoiceProps = { code: string; addresses: Movable[]; choose: (folder: AddressGroup) => void }

function Choice({ code, addresses, choose }: ChoiceProps) {
  const folders = useQuery(foldersQuery(code))
  const managed = folders.data?.filter(({ access }) => access === 'manager') ?? []
  if (!addresses.some(({ isOwner }) => isOwner)) return <OnlyOwn count={addresses.length} />
  return (
    <ListState
      query={folders}
      isEmpty={managed.length === 0}
      empty={<p>{t('You manage no folder yet. Create one beside the list of addresses.')}</p>}
    >
      <ul className="grid gap-1">
        {managed.map((folder) => (
          <li key={folder.id}>
            <button
              type="button"
              className="flex min-h-11 w-full items-center gap-2 rounded-md px-3 text-left hover:bg-accent-soft"
              onClick={() => choose(folder)}
            >
              <span className="grow">{folder.name}</span>
              {folder.sharing.isShared && (
                <span className="flex items-center gap-1 text-quiet">
                  <Users size={14} aria-hidden />
                  {t('{count, plural, one {# other sees it} other {# others see it}}', {
                    count: folder.sharing.participantCount,
                  })}
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </ListState>
  )
}

function OnlyOwn({ count }: { count: number }) {
  return (
    <p>
      {t(
        '{count, plural, one {This address belongs to somebody else. Only its owner can put it into a folder.} other {# addresses belong to others. Only their owners can put them into a folder.}}',
        { count },
      )}
    </p>
  )
}

type WhoProps = {
  code: string
  move: Move
  folder: AddressGroup
  busy: boolean
  put: (folder: AddressGroup, addresses: Movable[]) => void
}

function WhoWillSee({ code, move, folder, busy, put }: WhoProps) {
  const grants = useInfiniteQuery({ ...folderGrantsQuery(code, folder.id), enabled: folder.sharing.isShared })
  const owned = move.addresses.filter(({ isOwner }) => isOwner)
  const others = move.addresses.length - owned.length
  const names = grants.data?.pages.flatMap(({ items }) => items.map(toGrant)) ?? []
  return (
    <>
      {owned.length > 0 && <p className="mb-2 font-medium">{owned.map(({ name }) => name).join(', ')}</p>}
      {folder.sharing.isShared && owned.length > 0 && (
        <ListState query={grants} isEmpty={false} empty={null} rows={2}>
          <p className="mb-1">{t('After that, these people and groups see it:')}</p>
          <ul className="mb-3 list-disc pl-5">
            {names.map(({ id, name, canTransfer }) => (
              <li key={id}>
                {name} {canTransfer && <span className="text-warn">({t('may also send from it')})</span>}
              </li>
            ))}
          </ul>
        </ListState>
      )}
      {others > 0 && <OnlyOwn count={others} />}
      {owned.length > 0 && (
        <Button
          className="mt-3"
          look="primary"
          busy={busy}
          disabledBecause={folder.sharing.isShared && grants.data === undefined ? t('Loading') : null}
          onClick={() => put(folder, owned)}
        >
          {t('Put into {folder}', { folder: folder.name })}
        </Button>
      )}
    </>
  )
}
