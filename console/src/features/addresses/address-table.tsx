import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import type { Address as VaultAddress } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { FolderInput, GripVertical } from 'lucide-react'
import { createContext, useContext, useEffect, useMemo, useRef } from 'react'
import type { DraggedAddresses, Movable } from '../../lib/dragged.ts'
import { useKeys } from '../../lib/hotkeys.ts'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { type Column, DataTable, type More } from '../../ui/data-table.tsx'

export type Selection = {
  selected: ReadonlySet<string>
  toggle: (id: string) => void
  /** Returns the rows that move together with this row: all selected rows, if it is selected. */
  movedWith: (address: VaultAddress) => Movable[]
  move: (addresses: Movable[]) => void
}

const SelectionContext = createContext<Selection>(null!)

type Props = { code: string; rows: VaultAddress[]; more: More; selection: Selection }

/** Addresses with their balances. Rows are dragged onto folders by their handle, or moved by `m`. */
export function AddressTable({ code, rows, more, selection }: Props) {
  const columns = useMemo(() => columnsOf(code), [code])
  const focused = () => {
    const index = document.activeElement?.closest('tr[data-index]')?.getAttribute('data-index')
    return index === null || index === undefined ? undefined : rows[Number(index)]
  }
  useKeys(
    'x',
    () => {
      const row = focused()
      if (row !== undefined) selection.toggle(row.id)
    },
    {},
    [rows, selection],
  )
  useKeys(
    'm',
    () => {
      const row = focused()
      const chosen = rows.filter(({ id }) => selection.selected.has(id)).map(movable)
      if (row !== undefined) selection.move(selection.movedWith(row))
      else if (chosen.length > 0) selection.move(chosen)
    },
    {},
    [rows, selection],
  )
  return (
    <SelectionContext value={selection}>
      <DataTable
        caption={t('Addresses')}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        more={more}
        estimate={62}
      />
    </SelectionContext>
  )
}

export function movable({ id, label, address, access }: VaultAddress): Movable {
  return { id, name: label ?? address, isOwner: access.isOwner }
}

function columnsOf(code: string): Column<VaultAddress>[] {
  return [
    { id: 'select', header: t('Selection'), cell: (row) => <Select row={row} />, className: 'md:w-20' },
    {
      id: 'address',
      header: t('Address'),
      cell: ({ id, label, address, logoUri }) => (
        <span className="inline-flex items-center gap-2">
          {logoUri !== null && <Avatar name={label ?? ''} image={logoUri} />}
          <Link
            to={`/v/${code}/addresses/${id}` as '/'}
            className="inline-grid gap-0.5 hover:underline max-md:text-left"
          >
            {label !== null && <span className="font-medium">{label}</span>}
            <Address address={address} />
          </Link>
        </span>
      ),
    },
    {
      id: 'balances',
      header: t('Available'),
      align: 'end',
      cell: ({ balances }) => <Held balances={balances} />,
    },
    {
      id: 'owner',
      header: t('Owner'),
      cell: ({ owner, access }) => (access.isOwner ? t('you') : nameOf(owner)),
    },
    { id: 'move', header: t('Folder'), cell: (row) => <MoveButton row={row} />, className: 'md:w-14' },
  ]
}

function Held({ balances }: Pick<VaultAddress, 'balances'>) {
  const held = balances.filter(({ available, reserved }) => available !== '0' || reserved !== '0')
  if (held.length === 0) return <span className="text-quiet">{t('empty')}</span>
  return (
    <span className="inline-grid gap-0.5">
      {held.slice(0, 4).map(({ tokenId, availableDecimal, symbol }) => (
        <Amount key={tokenId} decimal={availableDecimal} unit={symbol} />
      ))}
      {held.length > 4 && <span className="text-quiet">{t('and {count} more', { count: held.length - 4 })}</span>}
    </span>
  )
}

function Select({ row }: { row: VaultAddress }) {
  const { selected, toggle } = useContext(SelectionContext)
  return (
    <span className="flex items-center gap-2">
      <DragHandle row={row} />
      <input
        type="checkbox"
        className="size-4 accent-accent"
        aria-label={t('Select {name}', { name: row.label ?? row.address })}
        checked={selected.has(row.id)}
        onChange={() => toggle(row.id)}
      />
    </span>
  )
}

/** For the pointer only: the keyboard moves rows by `m`. */
function DragHandle({ row }: { row: VaultAddress }) {
  const handle = useRef<HTMLSpanElement>(null)
  const { movedWith } = useContext(SelectionContext)
  const carried = useRef<() => Movable[]>(() => [])
  carried.current = () => movedWith(row)
  const { isOwner } = row.access
  useEffect(() => {
    const tr = handle.current!.closest('tr')
    if (tr === null || !isOwner) return undefined
    return draggable({
      element: tr,
      dragHandle: handle.current!,
      getInitialData: (): DraggedAddresses => ({ kind: 'addresses', addresses: carried.current() }),
    })
  }, [isOwner])
  return (
    <span
      ref={handle}
      aria-hidden
      title={isOwner ? t('Drag onto a folder') : t('Only its owner can put it into a folder.')}
      className={`max-lg:hidden ${isOwner ? 'cursor-grab text-quiet' : 'cursor-not-allowed opacity-40'}`}
    >
      <GripVertical size={16} />
    </span>
  )
}

function MoveButton({ row }: { row: VaultAddress }) {
  const { move, movedWith } = useContext(SelectionContext)
  return (
    <button
      type="button"
      aria-label={t('Put {name} into a folder', { name: row.label ?? row.address })}
      title={`${t('Put into a folder')} (m)`}
      className="grid size-9 place-items-center rounded-md text-quiet hover:bg-accent-soft hover:text-accent"
      onClick={() => move(movedWith(row))}
    >
      <FolderInput size={18} aria-hidden />
    </button>
  )
}
