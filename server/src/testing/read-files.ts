import { inflateSync } from 'node:zlib'
import { strFromU8, unzipSync } from 'fflate'
import { expect } from 'vitest'

/** Returns the cells of a CSV file by RFC 4180, line by line. */
export function readCsv(text: string): string[][] {
  const lines: string[][] = [[]]
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        cell += text[at]
        if (text[at] === '"') at += 1
      }
      at += 1
    } else {
      const end = text.slice(at).search(/,|\r\n/)
      cell = text.slice(at, at + end)
      at += end
    }
    lines.at(-1)!.push(cell)
    if (text[at] === ',') {
      at += 1
      continue
    }
    expect(text.slice(at, at + 2), 'a line ends with CRLF').toBe('\r\n')
    at += 2
    lines.push([])
  }
  return lines.slice(0, -1)
}

type ReadCell = { value: string; isText: boolean; format: number }
export type Sheet = {
  name: string
  cells: Map<string, ReadCell>
  isFrozen: boolean
  /** The columns with a note that their numbers are text. */
  noted: string[]
}

/** Reads a workbook by the names and relations in it, like any program. */
export function readWorkbook(bytes: Uint8Array): Sheet[] {
  const files = unzipSync(bytes)
  const part = (path: string) => {
    expect(files[path], path).toBeDefined()
    return strFromU8(files[path]!)
  }
  const attribute = (tag: string, name: string) => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1]
  const relations = new Map(
    [...part('xl/_rels/workbook.xml.rels').matchAll(/<Relationship ([^>]*)\/>/g)].map(([, tag]) => [
      attribute(tag!, 'Id'),
      attribute(tag!, 'Target'),
    ]),
  )
  const types = part('[Content_Types].xml')
  const formats = [
    ...part('xl/styles.xml')
      .split('<cellXfs')[1]!
      .matchAll(/<xf numFmtId="(\d+)"/g),
  ].map(([, id]) => Number(id))
  return [...part('xl/workbook.xml').matchAll(/<sheet ([^>]*)\/>/g)].map(([, tag]) => {
    const path = `xl/${relations.get(attribute(tag!, 'r:id'))}`
    expect(types).toContain(`PartName="/${path}"`)
    const xml = part(path)
    const cells = new Map<string, ReadCell>()
    for (const [, head, inside] of xml.matchAll(/<c ([^>]*)>(.*?)<\/c>/gs)) {
      const isText = attribute(head!, 't') === 'inlineStr'
      const content = isText
        ? /<t xml:space="preserve">(.*?)<\/t>/s.exec(inside!)![1]
        : /<v>(.*?)<\/v>/.exec(inside!)![1]
      const place = attribute(head!, 'r')!
      expect(cells.has(place), `${place} is written once`).toBe(false)
      cells.set(place, { value: plainOf(content!), isText, format: formats[Number(attribute(head!, 's'))]! })
    }
    const noted = [...xml.matchAll(/promptTitle="Numbers as text"[^>]* sqref="([A-Z]+)2:/g)].map(
      ([, column]) => column!,
    )
    return { name: plainOf(attribute(tag!, 'name')!), cells, isFrozen: xml.includes('state="frozen"'), noted }
  })
}

const plainOf = (xml: string) =>
  xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/_x([0-9A-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** Returns the files of a ZIP archive by their names, in their order. */
export function readArchive(bytes: Uint8Array): Map<string, string> {
  return new Map(Object.entries(unzipSync(bytes)).map(([name, file]) => [name, Buffer.from(file).toString('utf8')]))
}

/** A text of a page at its position. `width` is the width of its glyphs in the embedded font. */
export type DrawnText = {
  x: number
  y: number
  size: number
  gray: number
  font: string
  isBold: boolean
  /** The text that a reader copies. */
  text: string
  /** The characters of the glyphs from left to right. */
  drawnAs: string
  width: number
}
type PdfFont = { name: string; characters: string[]; widths: number[] }

/** Returns the objects of a PDF by their numbers, and its fonts. */
export function readObjects(bytes: Buffer) {
  const source = bytes.toString('latin1')
  expect(source.startsWith('%PDF-') && source.trimEnd().endsWith('%%EOF'), 'a whole PDF').toBe(true)
  const objects = new Map<string, { head: string; stream: string }>()
  for (const [, number, body] of source.matchAll(/(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj/gs)) {
    const start = body!.indexOf('\nstream\n')
    if (start === -1) objects.set(number!, { head: body!, stream: '' })
    else {
      const raw = Buffer.from(body!.slice(start + 8, body!.lastIndexOf('\nendstream')), 'latin1')
      const head = body!.slice(0, start)
      const stream = head.includes('/FlateDecode') ? inflateSync(raw) : raw
      objects.set(number!, { head, stream: stream.toString('latin1') })
    }
  }
  return { objects, fonts: fontsOf(objects) }
}

/** Returns the text of all pages of a PDF, in the order in which it is drawn, and the number of pages. */
export function readPdf(bytes: Buffer): { pages: number; text: string; fonts: string[]; drawn: DrawnText[][] } {
  const { objects, fonts } = readObjects(bytes)
  const streams = [...objects.values()].map(({ stream }) => stream)
  const drawn = streams.filter((stream) => stream.includes('/Total Do')).map((stream) => textsOf(stream, fonts))
  const total = streams.filter((stream) => stream.startsWith('BT /') && !stream.includes(' Do'))
  const texts = [...drawn.flat(), ...total.flatMap((stream) => textsOf(stream, fonts))]
  return {
    pages: [...objects.values()].filter(({ head }) => head.includes('/Type /Page\n')).length,
    text: texts.map(({ text }) => text).join(' '),
    fonts: [...fonts.values()].map(({ name }) => name),
    drawn,
  }
}

/** Returns the fonts by the names that pages use. Their characters are those that a viewer copies for a glyph. */
function fontsOf(objects: Map<string, { head: string; stream: string }>): Map<string, PdfFont> {
  const fonts = new Map<string, PdfFont>()
  const reference = (head: string, key: string) => new RegExp(`/${key} \\[?(\\d+) 0 R`).exec(head)![1]!
  for (const { head } of objects.values()) {
    for (const [, name, number] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const font = objects.get(number!)!.head
      const map = objects.get(reference(font, 'ToUnicode'))!.stream
      const widths = /\/W \[0 \[([^\]]*)\]\]/.exec(objects.get(reference(font, 'DescendantFonts'))!.head)![1]!
      fonts.set(name!, {
        name: /\/BaseFont \/(\S+)/.exec(font)![1]!,
        characters: [...map.matchAll(/\[([^\]]*)\]/g)].flatMap(([, list]) =>
          [...list!.matchAll(/<([0-9a-f ]*)>/g)].map(([, hex]) =>
            String.fromCharCode(...(hex!.match(/[0-9a-f]+/g) ?? []).map((unit) => Number.parseInt(unit, 16))),
          ),
        ),
        widths: widths.trim().split(/\s+/).map(Number),
      })
    }
  }
  return fonts
}

const literal = String.raw`\(((?:[^\\()]|\\[\s\S])*)\)`
/** Glyphs one after the other, or with their places and heights. */
const shown = String.raw`${literal} Tj|(?:\S+ Ts \[(?:-?\d+|${literal})*\] TJ )+0 Ts`
const drawing = new RegExp(
  String.raw`BT \/(F\d+) ([\d.]+) Tf ([\d.]+) g (?:1 0 0 -1 (\S+) (\S+) Tm )?((?:${shown})) ET`,
  'g',
)
/** Drawings in the place of which readers of the text take another. */
const span = /\/Span <<\/ActualText <feff([0-9a-f]*)>>> BDC (.*?) EMC$/gms

export function textsOf(stream: string, fonts: Map<string, PdfFont>): DrawnText[] {
  const texts: DrawnText[] = []
  let at = 0
  for (const { 0: whole, 1: hex, 2: inside, index } of stream.matchAll(span)) {
    texts.push(...piecesOf(stream.slice(at, index), fonts))
    const pieces = piecesOf(inside!, fonts)
    const last = pieces.at(-1)!
    const text = Buffer.from(hex!, 'hex').swap16().toString('utf16le')
    const drawnAs = pieces.map((piece) => piece.text).join('')
    texts.push({ ...pieces[0]!, text, drawnAs, width: last.x + last.width - pieces[0]!.x })
    at = index + whole.length
  }
  return [...texts, ...piecesOf(stream.slice(at), fonts)]
}

function piecesOf(stream: string, fonts: Map<string, PdfFont>): DrawnText[] {
  return [...stream.matchAll(drawing)].map(([, font, size, gray, x, y, shown]) => {
    const { name, characters, widths } = fonts.get(font!)!
    const glyphs: number[] = []
    let gaps = 0
    for (const [part, codes] of shown!.matchAll(new RegExp(`${literal}|(?<=[\\[)])-?\\d+(?=\\()`, 'g'))) {
      if (codes === undefined) gaps += Number(part)
      const bytes = (codes ?? '').replace(/\\([\s\S])/g, (_, escaped) => (escaped === 'r' ? '\r' : escaped))
      expect(bytes.length % 2, 'glyphs are of two bytes').toBe(0)
      for (const pair of bytes.match(/[\s\S]{2}/g) ?? []) glyphs.push(pair.charCodeAt(0) * 256 + pair.charCodeAt(1))
    }
    // The glyph 0 of each font is the box that stands for a character that it lacks.
    expect(glyphs, `a text in ${name}`).not.toContain(0)
    const text = glyphs.map((glyph) => characters[glyph]).join('')
    return {
      x: Number(x ?? 0),
      y: Number(y ?? 0),
      size: Number(size),
      gray: Number(gray),
      font: name,
      isBold: name.includes('Bold'),
      text,
      drawnAs: text,
      width: ((glyphs.reduce((sum, glyph) => sum + widths[glyph]!, 0) - gaps) * Number(size)) / 1000,
    }
  })
}
