import { inflateSync } from 'node:zlib'
import { strFromU8, unzipSync } from 'fflate'
import { expect } from 'vitest'

/** The cells of a CSV file by RFC 4180, line by line. */
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
export type Sheet = { name: string; cells: Map<string, ReadCell>; isFrozen: boolean }

/** Reads a workbook by the names and relations in it, as any program would. */
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
    return { name: plainOf(attribute(tag!, 'name')!), cells, isFrozen: xml.includes('state="frozen"') }
  })
}

const plainOf = (xml: string) =>
  xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/_x([0-9A-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The text of all pages of a PDF, in the order in which it is drawn, and the number of pages. */
export function readPdf(bytes: Buffer): { pages: number; text: string } {
  const source = bytes.toString('latin1')
  expect(source.startsWith('%PDF-') && source.trimEnd().endsWith('%%EOF'), 'a whole PDF').toBe(true)
  const parts: string[] = []
  for (const { index } of source.matchAll(/stream\n/g)) {
    if (source.slice(index - 3, index) === 'end') continue
    const end = source.indexOf('\nendstream', index)
    const stream = bytes.subarray(index + 7, end)
    const isDeflated = stream[0] === 0x78
    const drawn = (isDeflated ? inflateSync(stream) : stream).toString('latin1')
    for (const [, literal] of drawn.matchAll(/\(((?:[^\\()]|\\.)*)\) Tj/gs))
      parts.push(literal!.replace(/\\(.)/gs, '$1'))
  }
  return { pages: source.match(/\/Type \/Page\n/g)?.length ?? 0, text: parts.join(' ') }
}
