import type { Row } from './document.ts'

/** Sizes of the text of a row. */
export const cell = { size: 7, lineHeight: 8.6, padX: 4, padY: 3 }

/** The texts of one printed column of a row, one for each of its values. */
export type Texts = (row: Row) => string[]

/** How the rows of a table are drawn, below each other in columns or as blocks of labelled values. */
export type Drawing<Item> = {
  measure(row: Row): Item
  heightOf(item: Item): number
  headerHeight: number
  drawHeader(): void
  headingHeight: number
  drawHeading(printable: string): void
  /** Draws what fits on the page, at least one line, and returns the rest. */
  draw(item: Item): Item | null
}
