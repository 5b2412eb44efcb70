import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import type { AddressGroup } from '@strongroom/sdk'
import { Folder, FolderPlus, Users, Wallet } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { draggedAddresses, type Movable } from '../../lib/dragged.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'

/**
 * The addresses that the table shows: those of a folder, those that the reader owns, those that others share, or all of
 * them.
 */
export type Place = { folderId: string } | { access: 'own' | 'shared' | 'all' }

type Props = {
  folders: readonly AddressGroup[]
  /** True if the reader sees all addresses of the vault, as administrators and auditors do. */
  readsAll: boolean
  place: Place
  open: (place: Place) => void
  /** Called when addresses are dropped on a folder, or on no folder. */
  onDrop: (folder: AddressGroup | null, addresses: Movable[]) => void
  /** Null for readers who cannot create folders. */
  create: (() => void) | null
}

/** The list of places beside the table. On a phone, a choice above it. */
export function FolderTree({ folders, readsAll, place, open, onDrop, create }: Props) {
  const roots = readsAll
    ? [{ access: 'all' as const, label: t('All addresses') }]
    : [
        { access: 'own' as const, label: t('My addresses') },
        { access: 'shared' as const, label: t('Shared with me') },
        { access: 'all' as const, label: t('All addresses') },
      ]
  const shown = keyOf(place)
  return (
    <>
      <div className="lg:hidden">
        <SelectField
          label={t('Folder')}
          value={shown}
          onChange={({ target: { value } }) =>
            open(value.startsWith('folder ') ? { folderId: value.slice(7) } : { access: value as 'own' })
          }
        >
          {roots.map(({ access, label }) => (
            <option key={access} value={access}>
              {label}
            </option>
          ))}
          {folders.map(({ id, name }) => (
            <option key={id} value={`folder ${id}`}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <nav aria-label={t('Folders')} className="hidden lg:block">
        <ul className="mb-3 grid gap-0.5">
          {roots.map(({ access, label }, index) => (
            <Entry
              key={access}
              isShown={shown === access}
              open={() => open({ access })}
              onDrop={index === 0 && 'folderId' in place ? (addresses) => onDrop(null, addresses) : null}
            >
              {access === 'shared' ? <Users size={16} aria-hidden /> : <Wallet size={16} aria-hidden />}
              <span className="grow truncate">{label}</span>
            </Entry>
          ))}
        </ul>
        <h2 className="mb-1 px-3 text-[0.8125rem] text-quiet">{t('Folders')}</h2>
        <ul className="mb-3 grid gap-0.5">
          {folders.map((folder) => (
            <Entry
              key={folder.id}
              isShown={shown === `folder ${folder.id}`}
              open={() => open({ folderId: folder.id })}
              onDrop={folder.access === 'manager' ? (addresses) => onDrop(folder, addresses) : null}
            >
              <FolderName folder={folder} />
              <span className="figures text-[0.8125rem] text-quiet">{folder.memberCount}</span>
            </Entry>
          ))}
        </ul>
        {folders.length === 0 && (
          <p className="mb-3 px-3 text-quiet">{t('Folders order addresses, and share them together.')}</p>
        )}
      </nav>
      {create !== null && (
        <Button className="mb-4 w-full" icon={<FolderPlus size={16} aria-hidden />} onClick={create}>
          {t('New folder')}
        </Button>
      )}
    </>
  )
}

function keyOf(place: Place): string {
  return 'folderId' in place ? `folder ${place.folderId}` : place.access
}

function FolderName({ folder: { name, emoji, color, sharing } }: { folder: AddressGroup }) {
  return (
    <>
      {emoji === null ? (
        <Folder size={16} aria-hidden color={color ?? 'currentColor'} />
      ) : (
        <span aria-hidden>{emoji}</span>
      )}
      <span className="grow truncate">{name}</span>
      {sharing.isShared && <Users size={14} aria-label={t('shared')} className="shrink-0 text-quiet" />}
    </>
  )
}

type EntryProps = {
  isShown: boolean
  open: () => void
  onDrop: ((addresses: Movable[]) => void) | null
  children: ReactNode
}

function Entry({ isShown, open, onDrop, children }: EntryProps) {
  const element = useRef<HTMLLIElement>(null)
  const drop = useRef(onDrop)
  drop.current = onDrop
  const [isOver, setOver] = useState(false)
  const takes = onDrop !== null
  useEffect(() => {
    if (!takes) return undefined
    return dropTargetForElements({
      element: element.current!,
      canDrop: ({ source }) => draggedAddresses(source.data) !== null,
      onDragEnter: () => setOver(true),
      onDragLeave: () => setOver(false),
      onDrop: ({ source }) => {
        setOver(false)
        drop.current?.(draggedAddresses(source.data)!)
      },
    })
  }, [takes])
  return (
    <li ref={element}>
      <button
        type="button"
        aria-current={isShown ? 'true' : undefined}
        className={`flex min-h-9 w-full items-center gap-2 rounded-md px-3 text-left ${
          isOver ? 'bg-accent text-on-accent' : isShown ? 'bg-accent-soft font-medium' : 'hover:bg-paper'
        }`}
        onClick={open}
      >
        {children}
      </button>
    </li>
  )
}
