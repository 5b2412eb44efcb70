export type Page<Item> = { items: Item[]; nextCursor: string | null }

/** A list of the service. A loop requests each page when it reaches it, and no page before. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** Returns the list page by page. A page can be empty although others follow. */
  pages(): AsyncIterable<Page<Item>>
  /** Requests the first page alone, or the page at the `cursor` of the query. */
  page(): Promise<Page<Item>>
}

/** @param load requests the page at a cursor, or the first page for undefined */
export function pagesOf<Item>(load: (cursor: string | undefined) => Promise<Page<Item>>): Pages<Item> {
  async function* pages() {
    let cursor: string | undefined
    do {
      const page = await load(cursor)
      yield page
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }
  return {
    pages,
    page: () => load(undefined),
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items
    },
  }
}
