import type { Chart } from '../documents/document.ts'
import { groupDigits, printTime } from '../documents/print.ts'
import type { Language } from '../documents/words.ts'
import type { ZonedTime } from '../documents/zoned-time.ts'
import { type Color, leftEdge, type Pages, pageWidth } from './pdf-pages.ts'

const size = { height: 150, title: 10.5, label: 6.5, axis: 64, legend: 14, dates: 14 }
const gray = { label: 0.38, grid: 0.88, zero: 0.45 }
/** The colours dark, light and black, which differ in print without colours too. */
const colors: Record<'incoming' | 'outgoing' | 'net', Color> = {
  incoming: [0.1, 0.36, 0.46],
  outgoing: [0.93, 0.67, 0.36],
  net: [0.08, 0.08, 0.08],
}
/** The maximum number of grid lines, and of dates. */
const stepsMax = 6
const datesMax = 9

/** Draws incoming amounts as bars upwards, outgoing amounts as bars downwards, and the difference as a line, for every bucket. */
export function drawChart(pages: Pages, { title, unit, points }: Chart, time: ZonedTime): void {
  const needed = size.title + 22 + size.legend + size.height + size.dates
  if (pages.room() < needed) pages.add()
  else pages.moveDown(16)
  pages.moveDown(size.title)
  const heading = pages.printable(title)
  pages.element('H2', () => pages.text(leftEdge, pages.y(), heading, { font: 'bold', size: size.title }))
  pages.moveDown(6)
  const highest = Math.max(...points.map(({ incoming, net }) => Math.max(incoming, net)), 0)
  const lowest = Math.min(...points.map(({ outgoing, net }) => Math.min(-outgoing, net)), 0)
  if (highest === 0 && lowest === 0) {
    pages.moveDown(size.label + 4)
    const reason = pages.words.text('nothingToDraw', { unit })
    pages.element('P', () => pages.text(leftEdge, pages.y(), pages.printable(reason), { size: 7, gray: gray.label }))
    return
  }
  // The table of the timeline has the figures.
  pages.element('Figure', () => drawPlot(pages, { unit, points, highest, lowest }, time), { Alt: new String(title) })
}

type Plot = Pick<Chart, 'unit' | 'points'> & { highest: number; lowest: number }

function drawPlot(pages: Pages, { unit, points, highest, lowest }: Plot, time: ZonedTime): void {
  drawLegend(pages, unit)
  const step = niceStep((highest - lowest) / stepsMax)
  const [top, low] = [Math.ceil(highest / step) * step, Math.floor(lowest / step) * step]
  const upper = pages.y()
  const yOf = (value: number) => upper + ((top - value) / (top - low)) * size.height
  drawGrid(pages, { top, low, step }, yOf)
  drawFlows(pages, points, yOf)
  pages.moveDown(size.height)
  drawDates(pages, points, time)
  pages.moveDown(size.dates)
}

function drawLegend(pages: Pages, unit: string): void {
  const baseline = pages.y() + 8
  let x = leftEdge + size.axis
  const entries: [keyof typeof colors, string][] = [
    ['incoming', pages.words.text('in', { unit })],
    ['outgoing', pages.words.text('out', { unit })],
    ['net', pages.words.text('net', { unit })],
  ]
  for (const [name, label] of entries) {
    if (name === 'net') pages.rule(x, baseline - 2.3, 8, colors.net, 1)
    else pages.fill(x, baseline - 5, 8, 5.4, colors[name])
    const text = pages.printable(label)
    pages.text(x + 11, baseline, text, { size: size.label, gray: gray.label })
    x += 26 + pages.width(text, { size: size.label })
  }
  pages.moveDown(size.legend)
}

function drawGrid(
  pages: Pages,
  { top, low, step }: { top: number; low: number; step: number },
  yOf: (value: number) => number,
): void {
  const steps = Math.round((top - low) / step)
  for (let i = 0; i <= steps; i += 1) {
    const value = low + i * step
    const isZero = Math.abs(value) < step / 2
    const shade = isZero ? gray.zero : gray.grid
    pages.rule(leftEdge + size.axis, yOf(value), plotWidth, shade)
    const label = isZero ? '0' : pages.printable(printAxis(value, step, pages.words.language))
    const width = pages.width(label, { size: size.label })
    pages.text(leftEdge + size.axis - 5 - width, yOf(value) + 2.2, label, { size: size.label, gray: gray.label })
  }
}

/** The value from which the axis has powers of ten, because more digits have no room beside it. */
const powersFrom = 1e13

function printAxis(value: number, step: number, language: Language): string {
  if (Math.abs(value) < powersFrom) return groupDigits(value.toFixed(step >= 1 ? 0 : 2), language)
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9)
  const factor = String(Number((value / 10 ** power).toFixed(2)))
  return `${groupDigits(factor, language)} × 10^${power}`
}

const plotWidth = pageWidth - size.axis
const xOf = (position: number, count: number) => leftEdge + size.axis + (position / count) * plotWidth

function drawFlows(pages: Pages, points: Chart['points'], yOf: (value: number) => number): void {
  const slot = plotWidth / points.length
  const bar = Math.max(0.15, Math.min(24, slot * 0.62))
  for (const [i, { incoming, outgoing }] of points.entries()) {
    const x = xOf(i + 0.5, points.length) - bar / 2
    if (incoming > 0) pages.fill(x, yOf(incoming), bar, yOf(0) - yOf(incoming), colors.incoming)
    if (outgoing > 0) pages.fill(x, yOf(0), bar, yOf(-outgoing) - yOf(0), colors.outgoing)
  }
  const net = points.map(({ net }, i) => [xOf(i + 0.5, points.length), yOf(net)] as const)
  // A line needs two points. The net of a single bucket is a dash across its bar.
  if (net.length > 1) pages.line(net, colors.net, 0.9)
  const dot = Math.min(1.6, slot / 5)
  if (dot < 0.4) return
  for (const [x, y] of net) pages.fill(x - dot, y - dot, 2 * dot, 2 * dot, colors.net)
}

/** Draws the first day of buckets below them, for as many buckets as there is room. */
function drawDates(pages: Pages, points: Chart['points'], time: ZonedTime): void {
  const every = Math.ceil(points.length / datesMax)
  for (let i = 0; i < points.length; i += every) {
    const label = printTime(points[i]!.start, time, pages.words.language).slice(0, 10)
    const width = pages.width(label, { size: size.label })
    const x = Math.min(xOf(i + 0.5, points.length) - width / 2, leftEdge + pageWidth - width)
    pages.text(x, pages.y() + 9, label, { size: size.label, gray: gray.label })
  }
}

/** Returns 1, 2 or 5 times a power of ten, and at least the given step. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!
}
