import { decimalsMax, escapeText } from './xlsx-cells.ts'

export const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
export const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'

/** Returns the parts of the package besides its sheets, whose names are in their order. */
export function packageParts(sheetNames: string[]): [path: string, xml: string][] {
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

/**
 * Format 49 is text; 164 shows a number that is already in per cent, not a fraction; 165 is a time; the following formats are
 * numbers with so many decimals.
 */
const stylesXml = makeStyles()

function makeStyles(): string {
  const percent = 164
  const time = 165
  const decimals = 166
  const all = Array.from({ length: decimalsMax + 1 }, (_, count) => count)
  const format = (id: number, code: string) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`
  const formats = [
    format(percent, '0.00&quot;%&quot;'),
    format(time, 'yyyy\\-mm\\-dd\\ hh:mm:ss'),
    ...all.map((count) => format(decimals + count, count === 0 ? '#,##0' : `#,##0.${'0'.repeat(count)}`)),
  ]
  const cell = (id: number, font = 0, inside = '') =>
    `<xf numFmtId="${id}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"` +
    (inside === '' ? '/>' : ` applyAlignment="1">${inside}</xf>`)
  // The formats are in the order of `style`.
  const cells = [
    cell(0),
    cell(49),
    cell(49, 1),
    cell(percent),
    cell(49, 2),
    cell(time),
    cell(49, 0, '<alignment horizontal="right"/>'),
    ...all.map((count) => cell(decimals + count)),
  ]
  return [
    `${declaration}<styleSheet xmlns="${main}">`,
    `<numFmts count="${formats.length}">${formats.join('')}</numFmts>`,
    '<fonts count="3"><font><sz val="10"/><name val="Calibri"/></font><font><b/><sz val="10"/>',
    '<name val="Calibri"/></font><font><b/><sz val="14"/><name val="Calibri"/></font></fonts>',
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
    `<cellXfs count="${cells.length}">${cells.join('')}</cellXfs>`,
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
  ].join('')
}
