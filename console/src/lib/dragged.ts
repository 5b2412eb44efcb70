/** An address that can be moved between folders. Only its owner may move it. */
export type Movable = { id: string; name: string; isOwner: boolean }

/** The data of a dragged row. */
export type DraggedAddresses = { kind: 'addresses'; addresses: Movable[] }

export function draggedAddresses(data: Record<string | symbol, unknown>): Movable[] | null {
  return data.kind === 'addresses' ? (data as unknown as DraggedAddresses).addresses : null
}
