/** An address that is moved between folders. Only its owner may do that. */
export type Movable = { id: string; name: string; isOwner: boolean }

/** What a dragged row carries. */
export type DraggedAddresses = { kind: 'addresses'; addresses: Movable[] }

export function draggedAddresses(data: Record<string | symbol, unknown>): Movable[] | null {
  return data.kind === 'addresses' ? (data as unknown as DraggedAddresses).addresses : null
}
