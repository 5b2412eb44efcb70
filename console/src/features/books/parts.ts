export const parts = ['reconciliation', 'entries', 'held', 'unmatched', 'adjust'] as const
export type Part = (typeof parts)[number]
export type BooksSearch = { part?: Part; addressId?: string; tokenId?: string; purpose?: 'available' | 'reserved' }
export type BooksProps = { code: string; search: BooksSearch; change: (changed: BooksSearch) => void }
