import { Zip, ZipDeflate } from 'fflate'
import {
  type Cell,
  type Column,
  type ColumnKind,
  inLots,
  type OnRows,
  type ReportDocument,
  type Row,
} from './document.ts'

/** The maxima of a sheet by the specification of Excel; the header counts as a row. */
const sheetLimits = { rowsMax: 1_048_576, bytesMax: 2 ** 31 }
/** UTF-16 units, as Excel counts them. */
const cellLengthMax = 32_767
const sheetNameLengthMax = 31
const rowsPerLot = 200
/** In characters of the standard font. */
const columnWidths = { min: 8, max: 60 }

/** Formats of cells by their position in `stylesXml`. */
const style = { number: 0, text: 1, header: 2, percent: 3, title: 4 } as const

/**
 * XLSX (ECMA-376) written row by row into an archive that is never held in memory as a whole: a sheet with the facts, then
 * one per table, its header bold and frozen; a table too long for a sheet continues in the next. Counts and percentages
 * are numbers; amounts and timestamps are text, because a spreadsheet keeps at most 15 digits of a number. Strings are
 * written as strings, which are never evaluated, in cells formatted as text, so that editing one does not make a formula.
 */
export async function* renderXlsx(
  document: ReportDocument,
  onRows: OnRows,
  limits = sheetLimits,
): AsyncGenerator<Uint8Array> {
  const archive = createArchive(document.generatedAt)
  const sheetNames = ['Report']
  archive.open('xl/worksheets/sheet1.xml')
  archive.write(toFactsSheet(document))
  yield* archive.close()

  for (const { title, columns, rows } of document.tables) {
    let isOpen = false
    let written = 0
    let widths: number[] | undefined
    const openSheet = () => {
      archive.open(`xl/worksheets/sheet${sheetNames.length + 1}.xml`)
      sheetNames.push(toSheetName(title, sheetNames))
      archive.write(toSheetStart(columns, widths ?? []))
      isOpen = true
      written = 1
    }
    const closeSheet = () => {
      archive.write('</sheetData></worksheet>')
      isOpen = false
      return archive.close()
    }
    for await (const lot of inLots(rows, rowsPerLot)) {
      widths ??= columns.map((column) => widthOf(column, lot))
      let xml = ''
      for (const row of lot) {
        if (isOpen && (written >= limits.rowsMax || archive.bytesOfPart() >= limits.bytesMax)) {
          archive.write(xml)
          xml = ''
          yield* closeSheet()
        }
        if (!isOpen) openSheet()
        written += 1
        xml += toRow(columns, row, written)
      }
      archive.write(xml)
      yield* archive.take()
      onRows(lot.length)
    }
    if (written === 0) openSheet()
    yield* closeSheet()
  }

  for (const [path, xml] of packageParts(sheetNames)) {
    archive.open(path)
    archive.write(xml)
    yield* archive.close()
  }
  yield* archive.end()
}

/** A ZIP archive whose parts are written one after the other; finished bytes are returned and not kept. */
function createArchive(mtime: Date) {
  const ready: Uint8Array[] = []
  const zip = new Zip((error, bytes) => {
    if (error !== null) throw error
    if (bytes.length > 0) ready.push(bytes)
  })
  let part: ZipDeflate | undefined
  let bytesOfPart = 0
  function* take(): Generator<Uint8Array> {
    yield* ready.splice(0)
  }
  return {
    open(path: string): void {
      part = new ZipDeflate(path, { level: 3 })
      part.mtime = mtime
      bytesOfPart = 0
      zip.add(part)
    },
    write(xml: string): void {
      const bytes = Buffer.from(xml)
      bytesOfPart += bytes.length
      part?.push(bytes)
    },
    bytesOfPart: () => bytesOfPart,
    take,
    *close(): Generator<Uint8Array> {
      part?.push(new Uint8Array(0), true)
      yield* take()
    },
    *end(): Generator<Uint8Array> {
      zip.end()
      yield* take()
    },
  }
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'

function toFactsSheet({ title, facts }: ReportDocument): string {
  const rows = facts.map(
    ({ label, value }, i) =>
      `<row r="${i + 2}">${textCell(`A${i + 2}`, label, style.header)}${textCell(`B${i + 2}`, value)}</row>`,
  )
  return [
    `${declaration}<worksheet xmlns="${main}"><cols><col min="1" max="1" width="24" customWidth="1"/>`,
    '<col min="2" max="2" width="90" customWidth="1"/></cols>',
    `<sheetData><row r="1">${textCell('A1', title, style.title)}</row>${rows.join('')}</sheetData></worksheet>`,
  ].join('')
}

function toSheetStart(columns: Column[], widths: number[]): string {
  const cols = columns.map((column, i) => {
    const width = widths[i] ?? widthOf(column, [])
    return `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`
  })
  const header = columns.map(({ label }, i) => textCell(`${letters(i)}1`, label, style.header))
  return [
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">`,
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>',
    `<cols>${cols.join('')}</cols><sheetData><row r="1">${header.join('')}</row>`,
  ].join('')
}

function toRow(columns: Column[], row: Row, number: number): string {
  let xml = `<row r="${number}">`
  for (const [i, { key, kind }] of columns.entries()) xml += toCell(`${letters(i)}${number}`, row[key] ?? null, kind)
  return `${xml}</row>`
}

function toCell(place: string, value: Cell, kind: ColumnKind): string {
  if (value === null || value === '') return ''
  if (typeof value === 'string') return textCell(place, value)
  if (!Number.isFinite(value)) throw new Error(`A report holds ${value}, which no sheet can show`)
  return `<c r="${place}" s="${kind === 'percent' ? style.percent : style.number}"><v>${value}</v></c>`
}

function textCell(place: string, text: string, format: number = style.text): string {
  return `<c r="${place}" s="${format}" t="inlineStr"><is><t xml:space="preserve">${escapeText(shorten(text))}</t></is></c>`
}

function shorten(text: string): string {
  return text.length > cellLengthMax ? `${text.slice(0, cellLengthMax - 1)}…` : text
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Characters that XML cannot hold become `_xHHHH_` (ECMA-376, ST_Xstring), and text that looks like that is escaped. */
function escapeText(text: string): string {
  if (!/[^\x20-\x7E\xA0-\uD7FF]|[&<>]|_x/.test(text)) return text
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>]/g, (character) => entities[character]!)
    .replace(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
      /[\x00-\x08\x0B-\x1F\uFFFE\uFFFF]/g,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
}

const knownLetters: string[] = []

/** The letters of a column by its position from zero: A … Z, AA … */
function letters(index: number): string {
  const known = knownLetters[index]
  if (known !== undefined) return known
  const made = (index < 26 ? '' : letters(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26))
  knownLetters[index] = made
  return made
}

/** As wide as the widest of the first rows, within bounds. */
function widthOf({ key, label }: Column, rows: Row[]): number {
  let width = label.length
  for (const row of rows) width = Math.max(width, String(row[key] ?? '').length)
  return Math.min(Math.max(width + 2, columnWidths.min), columnWidths.max)
}

/** A name that Excel accepts: short, without the characters of references, and unique. */
function toSheetName(title: string, taken: string[]): string {
  const isTaken = (name: string) => taken.some((other) => other.toLowerCase() === name.toLowerCase())
  const bare = title.replace(/[[\]:*?/\\]/g, ' ').replace(/^'+|'+$/g, '')
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : ` (${n})`
    const name = bare.slice(0, sheetNameLengthMax - suffix.length) + suffix
    if (!isTaken(name)) return name
  }
}

function packageParts(sheetNames: string[]): [path: string, xml: string][] {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const numbers = sheetNames.map((_, i) => i + 1)
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${relationships}/${kind}" Target="${target}"/>`
  const relationshipsOf = (list: string[]) =>
    `${declaration}<Relationships xmlns="${packages}/relationships">${list.join('')}</Relationships>`
  const sheets = sheetNames.map(
    (name, i) => `<sheet name="${escapeText(name).replaceAll('"', '&quot;')}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  )
  return [
    ['xl/styles.xml', stylesXml],
    [
      'xl/workbook.xml',
      `${declaration}<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>${sheets.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relationshipsOf([
        ...numbers.map((n) => relation(`rId${n}`, 'worksheet', `worksheets/sheet${n}.xml`)),
        relation('rIdStyles', 'styles', 'styles.xml'),
      ]),
    ],
    ['_rels/.rels', relationshipsOf([relation('rId1', 'officeDocument', 'xl/workbook.xml')])],
    [
      '[Content_Types].xml',
      [
        `${declaration}<Types xmlns="${packages}/content-types">`,
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>',
        '<Default Extension="xml" ContentType="application/xml"/>',
        `<Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/>`,
        `<Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>`,
        ...numbers.map(
          (n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${type}.worksheet+xml"/>`,
        ),
        '</Types>',
      ].join(''),
    ],
  ]
}

/** Format 49 is text; 164 shows a number that is already in per cent, not a fraction. */
const stylesXml = [
  `${declaration}<styleSheet xmlns="${main}">`,
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="0.00&quot;%&quot;"/></numFmts>',
  '<fonts count="3"><font><sz val="10"/><name val="Calibri"/></font><font><b/><sz val="10"/>',
  '<name val="Calibri"/></font><font><b/><sz val="14"/><name val="Calibri"/></font></fonts>',
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
  '<cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
  '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>',
  '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
  '<xf numFmtId="49" fontId="2" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs>',
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
].join('')
