import { describe, expect, it } from 'vitest'
import type { PrintedColumn } from '../documents/document.ts'
import { codes, labels, titles } from '../documents/phrases.ts'
import { languages, wordsOf } from '../documents/words.ts'
import type { Report } from '../requests/report-request.ts'
import { reports, reportTypes } from './catalogue.ts'
import { resolveShape, type Shape, toTables } from './tables.ts'

/** The titles and labels that pages show, and the values of the enumerations among their cells. */
function shown(): { labels: Set<string>; codes: Set<string> } {
  const found = { labels: new Set<string>(), codes: new Set<string>() }
  for (const { answer, document } of reports as readonly Report[]) {
    for (const [name, property] of Object.entries((answer as Shape).properties!)) {
      const layout = document?.blocks?.[name] ?? {}
      if (['report', 'nextCursor'].includes(name) || layout.isOmitted) continue
      const shape = resolveShape(property)
      collectCodes(shape, found.codes)
      for (const table of toTables(name, shape, [], { ...layout, columns: [] })) {
        const columns: readonly Pick<PrintedColumn, 'label'>[] =
          table.printed ?? table.columns.filter(({ isOmittedInPrint }) => !isOmittedInPrint)
        for (const label of [table.title, ...columns.map((column) => column.label)]) found.labels.add(label)
      }
    }
  }
  return found
}

function collectCodes(shape: Shape, found: Set<string>): void {
  for (const value of shape.enum ?? []) found.add(String(value))
  const inner = [...(shape.items === undefined ? [] : [shape.items]), ...Object.values(shape.properties ?? {})]
  for (const part of inner) collectCodes(resolveShape(part), found)
}

describe('the words of a page', () => {
  it('are there for every title, label and value of a report', () => {
    const { labels: shownLabels, codes: shownCodes } = shown()
    expect(shownLabels.size).toBeGreaterThan(100)
    expect([...shownLabels].filter((label) => !Object.hasOwn(labels, label))).toEqual([])
    expect([...shownCodes].filter((code) => !Object.hasOwn(codes, code))).toEqual([])
    expect(Object.keys(titles).sort()).toEqual([...reportTypes].sort())
  })

  it.each([
    [
      'In the period from 2026-01-05T00:00:00.000Z the turnover was at least 3 times the mean of the other periods.',
      'Im Zeitraum ab damals war der Umsatz mindestens das 3-Fache des Mittels der anderen Zeiträume.',
    ],
    [
      'The transfer cmi8h2k1p0a1b2c3d4e5f6g7h is worth at least 5 times the mean of the other operations.',
      'Die Überweisung ist mindestens das 5-Fache des Mittels der anderen Vorgänge wert.',
    ],
    [
      'Northwind has at least 50 per cent of the turnover. 4 per cent of it has no known counterparty.',
      'Auf Northwind entfallen mindestens 50 Prozent des Umsatzes. 4 Prozent davon haben keine bekannte Gegenpartei.',
    ],
    [
      'From 2026-01-05T00:00:00.000Z to 2026-01-06T00:00:00.000Z, 2 of 4 operations in USDT had no rate and are missing from USD sums.',
      'Von damals bis damals hatten 2 von 4 Vorgängen in USDT keinen Kurs und fehlen in den Summen in USD.',
    ],
  ])('turn the sentence %s', (sentence, german) => {
    expect(wordsOf('de').sentence(sentence, () => 'damals')).toBe(german)
    expect(wordsOf('en').sentence(sentence, () => 'then')).not.toMatch(/\d{4}-\d\d-\d\dT|\bcmi8/)
  })

  it('keep what has no words, such as the name of a category', () => {
    for (const language of languages) {
      const words = wordsOf(language)
      expect([words.label('Travel'), words.code('travel'), words.label('toString')]).toEqual([
        'Travel',
        'travel',
        'toString',
      ])
    }
  })
})
