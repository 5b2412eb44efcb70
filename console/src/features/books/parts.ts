export const parts = ['reconciliation', 'entries', 'held', 'unmatched', 'verification', 'adjust'] as const
export type Part = (typeof parts)[number]
export type BooksSearch = {
  part?: Part
  addressId?: string
  tokenId?: string
  purpose?: 'available' | 'reserved'
  /** Identifier of a verification of the books. */
  verification?: string
}
export type BooksProps = { code: string; search: BooksSearch; change: (changed: BooksSearch) => void }
