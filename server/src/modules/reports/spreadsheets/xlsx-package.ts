import { escapeText } from './xlsx-cells.ts'

export const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
export const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'

/** A sheet of the workbook; `cells` are the first and the last cell of its table, such as `A1:F20`, and null without a table. */
export type NamedSheet = { name: string; cells: string | null }

/** Returns the parts of the package besides its sheets, which are in their order. */
export function packageParts(named: readonly NamedSheet[]): [path: string, xml: string][] {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const numbers = named.map((_, i) => i + 1)
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${relationships}/${kind}" Target="${target}"/>`
  const relationshipsOf = (list: string[]) =>
    `${declaration}<Relationships xmlns="${packages}/relationships">${list.join('')}</Relationships>`
  const sheets = named.map(
    ({ name }, i) =>
      `<sheet name="${escapeText(name).replaceAll('"', '&quot;')}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  )
  return [
    ['xl/styles.xml', stylesXml],
    [
      'xl/workbook.xml',
      [
        `${declaration}<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>${sheets.join('')}</sheets>`,
        `${definedNames(named)}</workbook>`,
      ].join(''),
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

/** Returns the ranges that the filter of each table covers, and the row that is repeated on each printed page. */
function definedNames(named: readonly NamedSheet[]): string {
  const names = named.flatMap(({ name, cells }, i) => {
    if (cells === null) return []
    const sheet = escapeText(`'${name.replaceAll("'", "''")}'`)
    const range = cells.replace(/([A-Z]+)(\d+)/g, '$$$1$$$2')
    return [
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${i}" hidden="1">${sheet}!${range}</definedName>`,
      `<definedName name="_xlnm.Print_Titles" localSheetId="${i}">${sheet}!$1:$1</definedName>`,
    ]
  })
  return names.length === 0 ? '' : `<definedNames>${names.join('')}</definedNames>`
}

/**
 * Format 49 is text, 4 a number with two decimals; 164 shows a number that is already in per cent, not a fraction; 165 is a time;
 * 166 an amount with as many decimals as it has, and at least two.
 */
const stylesXml = makeStyles()

function makeStyles(): string {
  const percent = 164
  const time = 165
  const amount = 166
  const usd = 4
  const format = (id: number, code: string) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`
  const formats = [
    format(percent, '0.00&quot;%&quot;'),
    format(time, 'yyyy\\-mm\\-dd\\ hh:mm:ss'),
    format(amount, `#,##0.00${'#'.repeat(16)}`),
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
    cell(amount),
    cell(usd),
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
