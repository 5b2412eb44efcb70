import type { ColumnKind, Row } from '../documents/document.ts'
import { type Drawing, type Texts, wrap, wrapTexts } from './pdf-layout.ts'
import { leftEdge, type Pages, pageWidth } from './pdf-pages.ts'

/** The most and the least number of values side by side, and sizes in points. */
const block = {
  columnsMax: 6,
  columnsMin: 3,
  labelSize: 6.2,
  labelHeight: 8.5,
  size: 7.6,
  lineHeight: 9.4,
  gap: 10,
  after: 5,
  below: 5,
}
const heading = { size: 8.5, height: 15, baseline: 9 }
const gray = { label: 0.38, rule: 0.82 }

/** A label above the lines of its value. */
type Value = { label: string[]; lines: string[] }
/** Values side by side. */
type Group = Value[]

/**
 * Returns a drawing of every row as a block of values with their labels above them, for tables with more columns than a page is wide.
 *
 * @param widest the width of the widest figure at size 1, for which fewer values stand side by side
 */
export function createBlocks(
  pages: Pages,
  columns: { label: string; kind: ColumnKind; textsOf: Texts }[],
  widest: number,
): Drawing<Group[]> {
  const { regular } = pages.widths
  const fitting = Math.floor(pageWidth / (widest * block.size + block.gap))
  const sideBySide = Math.min(block.columnsMax, Math.max(block.columnsMin, fitting))
  const width = pageWidth / sideBySide
  const inner = width - block.gap
  const type = { language: pages.words.language, widths: regular, size: block.size, width: inner }
  const most = (group: Group, part: keyof Value) => Math.max(...group.map((value) => value[part].length))
  const heightOf = (group: Group, lines = most(group, 'lines')) =>
    most(group, 'label') * block.labelHeight + lines * block.lineHeight + block.after

  /** Draws the lines that fit and returns the rest. */
  function drawGroup(group: Group): Group | null {
    const labels = most(group, 'label')
    const lines = most(group, 'lines')
    const fitting = Math.max(1, Math.floor((pages.room() - heightOf(group, 0)) / block.lineHeight))
    const drawn = Math.min(lines, fitting)
    const top = pages.y() + block.labelHeight
    for (const [i, value] of group.entries()) {
      const x = leftEdge + i * width
      pages.element('P', () => {
        for (const [n, line] of value.label.entries()) {
          pages.text(x, top + n * block.labelHeight, line, { size: block.labelSize, gray: gray.label })
        }
        for (const [n, line] of value.lines.slice(0, drawn).entries()) {
          pages.text(x, top + labels * block.labelHeight + n * block.lineHeight, line, { size: block.size })
        }
      })
    }
    pages.moveDown(heightOf(group, drawn))
    return drawn === lines ? null : group.map((value) => ({ ...value, lines: value.lines.slice(drawn) }))
  }

  return {
    group: 'Div',
    headerHeight: 0,
    drawHeader() {},
    headingHeight: heading.height,
    drawHeading: (text) => drawHeading(pages, text),
    measure(row: Row) {
      const values = columns.map(({ label, kind, textsOf }) => ({
        label: wrap(label, regular, block.labelSize, inner),
        lines: wrapTexts(textsOf(row), kind, type),
      }))
      const count = Math.ceil(values.length / sideBySide)
      return Array.from({ length: count }, (_, i) => values.slice(i * sideBySide, (i + 1) * sideBySide))
    },
    heightOf: (groups) => groups.reduce((sum, group) => sum + heightOf(group), block.below),
    draw(groups) {
      for (const [i, group] of groups.entries()) {
        const isTooHigh = pages.room() < heightOf(group, Math.min(most(group, 'lines'), 3))
        if (i > 0 && isTooHigh) return groups.slice(i)
        let rest: Group | null = null
        pages.row('Div', () => {
          rest = drawGroup(group)
        })
        if (rest !== null) return [rest, ...groups.slice(i + 1)]
      }
      pages.rule(leftEdge, pages.y(), pageWidth, gray.rule)
      pages.moveDown(block.below)
      return null
    },
  }
}

function drawHeading(pages: Pages, text: string): void {
  const look = { font: 'bold', size: heading.size } as const
  const drawLine = () => pages.text(leftEdge, pages.y() + heading.baseline, text, look)
  pages.row('Div', () => pages.element('H3', drawLine))
  pages.moveDown(heading.height)
}
