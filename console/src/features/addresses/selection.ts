import type { Address } from '@strongroom/sdk'
import { useMemo, useState } from 'react'
import type { Movable } from '../../lib/dragged.ts'
import { movable, type Selection } from './address-table.tsx'

/** Keeps the selected rows. When a selected row is moved, the other selected rows move too. */
export function useSelection(rows: Address[], move: (addresses: Movable[]) => void) {
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  return useMemo(() => {
    const moving = () => rows.filter(({ id }) => selected.has(id)).map(movable)
    const selection: Selection = {
      selected,
      move,
      toggle: (id) =>
        select((before) => {
          const after = new Set(before)
          if (!after.delete(id)) after.add(id)
          return after
        }),
      movedWith: (address) => (selected.has(address.id) ? moving() : [movable(address)]),
    }
    return { ...selection, moving, clear: () => select(new Set()) }
  }, [rows, selected, move])
}
