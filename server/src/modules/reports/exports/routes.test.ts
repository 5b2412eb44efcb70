import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { deleteExpiredRows } from '../../../jobs/housekeeping.ts'
import { newId } from '../../../lib/ids.ts'
import {
  exportHeartbeatMilliseconds,
  exportRecordTtlHours,
  exportsOpenPerCallerMax,
  exportTtlHours,
} from '../../../lib/limits.ts'
import type { Answer, BodyOf, ReportExport } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { describedApiOf } from '../../../testing/described-api.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { readArchive, readCsv, readPdf, readWorkbook } from '../../../testing/read-files.ts'
import { type Counterparty, createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'
import { type ReportType, reportOf, reportTypes } from '../catalogue/catalogue.ts'
import { type FileFormat, fileKindOf, mediaTypes } from '../files/formats.ts'
import { letters } from '../spreadsheets/xlsx-cells.ts'
import { runDueExports } from './due-exports.ts'

let world: ReportWorld
let queries: Record<ReportType, Record<string, string>>
let supplier: Counterparty
const interval = { from: '2026-01-01', to: '2026-02-01', timezone: 'Europe/Berlin' }
const quiet = { from: '2020-01-01', to: '2020-02-01', timezone: 'Europe/Berlin' }

beforeAll(async () => {
  world = await createReportWorld()
  supplier = await world.addCounterparty('Müller, "Söhne" & Co.')
  const groupId = newId()
  await world.sql(
    `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at) values ($1,$2,'suppliers','Suppliers',now(),now())`,
    [world.vault.id, groupId],
  )
  await world.sql(
    `insert into counterparty_group_memberships (vault_id, group_id, counterparty_id, created_at) values ($1,$2,$3,now())`,
    [world.vault.id, groupId, supplier.id],
  )
  const categoryId = newId()
  await world.sql(
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
      approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    values ($1, $2, 'payroll', 'Payroll', 'both', 'vault_members', 'vault_members', 'vault_members', 'none', 0, false, $3, $3,
      now(), now())`,
    [world.vault.id, categoryId, world.admin.userId],
  )
  await world.sql(
    `insert into category_fields (vault_id, id, category_id, key, label, type, required, sensitive, order_index, created_at,
      updated_at, scale)
    values ($1, $2, $3, 'hours', 'Hours', 'number', false, false, 0, now(), now(), 2)`,
    [world.vault.id, newId(), categoryId],
  )
  for (const [i, amount] of ['100.000001', '50', '0.25', '7'].entries()) {
    const id = await world.add({
      type: i === 3 ? 'transfer' : 'deposit',
      at: `2026-01-0${i + 1}T12:00:00.000Z`,
      amount,
      counterparty: i % 2 === 0 ? supplier : null,
      rate: i === 2 ? null : '0.999',
    })
    await world.sql(
      `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id, values,
        assigned_by_id, created_at, updated_at)
      select vault_id, $3, id, type, created_at, $4, $5, $6, now(), now() from operations where vault_id = $1 and id = $2`,
      [world.vault.id, id, newId(), categoryId, JSON.stringify({ hours: `${i}.50` }), world.owner.userId],
    )
  }
  queries = {
    address_activity: { addressId: world.own.id, comparison: 'previous_period' },
    counterparty_activity: { counterpartyId: supplier.id },
    counterparty_group_activity: { counterpartyGroupId: groupId },
    transaction_activity: { groupBy: 'week' },
    asset_movement: { groupBy: 'month' },
    account_statement: { addressId: world.own.id, tokenId: world.vault.tokens.usdt.id },
    operations_exceptions: {},
    operations: {},
    fees: {},
    approval_activity: {},
    category_analytics: { categoryKey: 'payroll' },
  }
})
afterAll(() => world.close())
beforeEach(() => world.sql('delete from report_exports'))

type File = {
  status: number
  headers: Answer['headers']
  bytes: Buffer
  json: BodyOf<'get', '/vaults/v/reports/transaction_activity'> | null
}

/** Returns the bytes of an answer, as received. */
async function fetchFile(path: string, by: Person = world.owner): Promise<File> {
  const answer = await world.test.app.inject({
    url: `/api/v1/vaults/${world.vault.code}/reports/${path}`,
    headers: { authorization: `Bearer ${by.token}` },
  })
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: answer.rawPayload,
    json: isJson ? answer.json() : null,
  }
}

const reportFile = (type: ReportType, more: Record<string, string>, by?: Person) =>
  fetchFile(`${type}?${new URLSearchParams({ ...interval, ...queries[type], ...more })}`, by)

/** Any object of a report. */
type Tree = Record<string, unknown>
const isScalar = (value: unknown) => value === null || typeof value !== 'object'

/** Returns the value of a row in the column of this name. */
function leafOf(row: unknown, key: string): unknown {
  return key.split('.').reduce((value, part) => (value as Tree | null | undefined)?.[part], row)
}

const kindOf = (format: FileFormat, type: ReportType, parameters = {}) => fileKindOf(format, reportOf(type), parameters)
const toFileName = (block: string) => block.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()

/** Returns the tables of an archive, by the names of their files. */
function tablesOf(bytes: Buffer): Map<string, string[][]> {
  return new Map([...readArchive(bytes)].map(([name, text]) => [name, readCsv(text)]))
}

/** Returns the facts of a file by their labels. */
const factsOf = (tables: Map<string, string[][]>) =>
  Object.fromEntries(tables.get('about.csv')!.map(([label, value]) => [label, value]))

/** Returns the lines of a CSV file, or of all files of an archive. */
const textOf = ({ bytes, headers }: File) =>
  headers['content-type'] === mediaTypes.zip
    ? [...readArchive(bytes)].map(([name, text]) => `${name}\r\n${text}`).join('')
    : bytes.toString('utf8')

/**
 * Computes the hash as docs/report-exports.md says: members sorted, no white space, without the fields that differ between two
 * answers.
 */
function contentSha256Of(json: { nextCursor?: unknown; report: object }): string {
  const { nextCursor: _, ...content } = json
  const { id: _1, dataCutoff: _2, generatedAt: _3, generatedById: _4, ...report } = content.report as Tree
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
    if (isScalar(value)) return JSON.stringify(value)
    const tree = value as Tree
    const names = Object.keys(tree).sort()
    return `{${names.map((name) => `${JSON.stringify(name)}:${write(tree[name])}`).join(',')}}`
  }
  return createHash('sha256')
    .update(write({ ...content, report }))
    .digest('hex')
}

/** Returns the serial number of a sheet for an instant of a winter, on the clocks of Berlin. */
const serialOf = (instant: string) => String((new Date(instant).getTime() + 3_600_000) / 86_400_000 + 25_569)

/** A page shows the changes of a statement as debits and credits, and leaves out rates. */
const unprinted = ['availableChange', 'reservedChange', 'balanceChange', 'usdRate']

/** Returns every decimal and count of a report, at any depth. */
function figuresOf(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'string') return /^-?\d+(\.\d+)?$/.test(value) ? [value] : []
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value as Tree).flatMap(([name, inner]) =>
    name === 'report' || unprinted.includes(name) ? [] : figuresOf(inner),
  )
}

/** Returns the report without the postings that change no balance, which a page leaves out. */
function withoutReservations(json: object): object {
  const { lines } = json as { lines?: { debit: string | null; credit: string | null }[] }
  return lines === undefined ? json : { ...json, lines: lines.filter(({ debit, credit }) => debit ?? credit) }
}

const columnIndex = (place: string) =>
  [...place.replace(/\d+$/, '')].reduce((index, letter) => 26 * index + letter.charCodeAt(0) - 64, 0) - 1

describe('a report as a file', () => {
  it.each(reportTypes)('%s has the same content in CSV, XLSX and PDF as in JSON', async (type) => {
    const json = await world.report(type, {
      ...interval,
      ...queries[type],
      ...(['account_statement', 'operations_exceptions', 'operations'].includes(type) ? { limit: '100' } : {}),
    })
    expect(figuresOf(json).length).toBeGreaterThan(3)
    const files = new Map<string, Buffer>()
    for (const format of ['csv', 'xlsx', 'pdf'] as const) {
      const kind = kindOf(format, type, { tables: 'all' })
      const { status, headers, bytes } = await reportFile(type, { format, tables: 'all' })
      expect(status, format).toBe(200)
      expect(headers['content-type']).toBe(mediaTypes[kind])
      expect(headers['content-disposition']).toMatch(
        new RegExp(`^attachment; filename="${type}-c[0-9a-z]{24}\\.${kind}"$`),
      )
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['cache-control']).toBe('no-store')
      files.set(format, bytes)
    }

    const tables = tablesOf(files.get('csv')!)
    const blocks = Object.entries(json as Tree).filter(
      ([name]) => !['report', 'nextCursor', 'categoryColumns'].includes(name),
    )
    let compared = 0
    for (const [name, block] of blocks) {
      const rows = (Array.isArray(block) ? block : [block]) as Tree[]
      const [keys, ...lines] = tables.get(`${toFileName(name)}.csv`)!
      expect(lines, name).toHaveLength(rows.length)
      for (const [r, line] of lines.entries()) {
        expect(line).toHaveLength(keys!.length)
        for (const [c, key] of keys!.entries()) {
          const value = leafOf(rows[r], key)
          if (!isScalar(value) || typeof value === 'boolean' || value === undefined) continue
          const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value))
          // The instants of January on the clocks of Berlin.
          if (isTime) expect(new Date(line[c]!).toISOString(), `${name} ${key}`).toBe(value)
          else expect(line[c], `${name} ${key}`).toBe(value === null ? '' : String(value))
          compared += 1
        }
      }
      expectAssets(rows, tables.get(`${toFileName(name)}-by-asset.csv`), name)
    }
    expect(compared).toBeGreaterThan(5)

    const sha256 = contentSha256Of(json)
    const [about, ...sheets] = readWorkbook(files.get('xlsx')!)
    expect(about!.name).toBe('About')
    const facts = new Map([...about!.cells].map(([place, { value }]) => [place, value]))
    const factOf = (label: string) => facts.get([...facts].find(([, value]) => value === label)![0].replace('A', 'B'))
    expect(factOf('Content SHA-256')).toBe(sha256)
    const content = [...tables].filter(([name]) => name !== 'about.csv')
    expect(sheets).toHaveLength(content.length)
    for (const [n, [name, [keys, ...lines]]] of content.entries()) {
      const { cells, isFrozen } = sheets[n]!
      expect([isFrozen, cells.has('A1')], name).toEqual([true, keys!.length > 0])
      // An amount has its digits in the column beside the number.
      const exact = [...cells].filter(([place, { value }]) => /^[A-Z]+1$/.test(place) && value.endsWith(', exact'))
      const numbers = exact.map(([place]) => letters(columnIndex(place) - 1))
      const values = [...cells]
        .filter(([place]) => !/^[A-Z]+1$/.test(place) && !numbers.includes(place.replace(/\d+$/, '')))
        .map(([, { value }]) => value)
      // A sheet stores text and formulas differently, so it needs no apostrophe; a time is a number of days.
      const isTime = (cell: string) => /^\d{4}-\d\d-\d\dT[\d:.]+\+01:00$/.test(cell)
      expect(values, name).toEqual(
        lines
          .flat()
          .flatMap((cell) => (cell === '' ? [] : isTime(cell) ? [serialOf(cell)] : [cell.replace(/^'(?=-)/, '')])),
      )
    }
    expect(factsOf(tables)).toMatchObject({
      Title: type.charAt(0).toUpperCase() + type.slice(1).replaceAll('_', ' '),
      Vault: 'Main vault (main-vault)',
      From: '2026-01-01 00:00:00 +01:00, included',
      To: '2026-02-01 00:00:00 +01:00, excluded',
      'Time zone': 'Europe/Berlin',
      'Base currency': 'USD',
      Classification: 'current',
      Covers: 'own operations',
      'Generated by': 'owner@example.org',
      'Schema version': '1',
      'Content SHA-256': sha256,
    })

    const { text, pages } = readPdf(files.get('pdf')!)
    expect(text).toContain(`of ${pages}`)
    expect(text).toContain(`SHA-256 of the content: ${sha256}`)
    const [period = {}] = (json as { timeline?: object[] }).timeline ?? []
    expect(text.includes('Net, USD'), 'a chart where a timeline has flows').toBe('netFlowUsd' in period)
    // A number too long for its column continues on the next line, and digits are grouped.
    const bare = text.replaceAll(/[ ,]/g, '')
    for (const figure of figuresOf(withoutReservations(json))) expect(bare, `the PDF shows ${figure}`).toContain(figure)
  })

  type Amount = { tokenId: string; amount: string }
  /** Expects one row per asset and outer row, with the amounts of all lists of that asset side by side. */
  function expectAssets(rows: Tree[], table: string[][] | undefined, name: string): void {
    const lists = Object.keys(rows[0] ?? {}).filter((key) => key.endsWith('ByAsset'))
    if (lists.length === 0) return
    const [keys, ...lines] = table!
    const expected = rows.flatMap((row) =>
      lists.flatMap((list) => (row[list] as Amount[]).map(({ tokenId, amount }) => `${tokenId} ${list} ${amount}`)),
    )
    const found = lines.flatMap((line) =>
      lists.flatMap((list) => {
        const cell = line[keys!.indexOf(list.replace(/ByAsset$/, ''))]!
        return cell === '' ? [] : [`${line[keys!.indexOf('tokenId')]} ${list} ${cell}`]
      }),
    )
    expect(found.sort(), name).toEqual(expected.sort())
    const ids = lines.map((line) => line[keys!.indexOf('tokenId')]!)
    // The rows of an asset follow each other.
    expect(ids.filter((id, i) => id !== ids[i - 1])).toHaveLength(new Set(ids).size)
  }

  it('has every row where JSON has pages', async () => {
    const { bytes } = await reportFile('account_statement', { format: 'csv', limit: '1' })
    const query = { ...interval, ...queries.account_statement }
    const { lines, nextCursor } = await world.report('account_statement', { ...query, limit: '1' })
    expect([lines.length, nextCursor]).toEqual([1, expect.any(String)])
    const all = (await world.report('account_statement', { ...query, limit: '100' })).lines
    expect(all.length).toBeGreaterThan(4)
    const [, ...postings] = readCsv(bytes.toString('utf8'))
    expect(postings.map(([, id]) => id)).toEqual(all.map(({ id }) => id))
  })

  it('is complete without any operation', async () => {
    for (const type of reportTypes) {
      for (const format of ['csv', 'xlsx', 'pdf'] as const) {
        const { status, bytes } = await reportFile(type, { ...quiet, format, tables: 'all' })
        expect(status, `${type} ${format}`).toBe(200)
        if (format === 'csv') expect(tablesOf(bytes).size).toBeGreaterThan(type === 'operations' ? 1 : 2)
        if (format === 'xlsx') expect(readWorkbook(bytes).length).toBeGreaterThan(1)
        if (format === 'pdf') expect(readPdf(bytes).pages).toBeGreaterThan(0)
      }
    }
  })

  it('is JSON with format=json and without a format', async () => {
    const { json } = await reportFile('transaction_activity', { format: 'json' })
    expect(json!.report.type).toBe('transaction_activity')
  })

  it('has its media types in the API description', () => {
    const { paths } = describedApiOf(world.test.app)
    for (const type of reportTypes) {
      const { parameters, responses } = paths[`/api/v1/vaults/{code}/reports/${type}`]!.get!
      expect(Object.keys(responses[200]!.content!)).toEqual([
        'application/json',
        ...(['account_statement', 'operations', 'operations_exceptions'].includes(type) ? ['text/csv'] : []),
        'application/zip',
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
        'application/pdf',
      ])
      const format = parameters!.find(({ name }) => name === 'format')
      expect(format!.schema!.enum).toEqual(['json', 'csv', 'xlsx', 'pdf'])
    }
  })

  it.each<[string, ReportType, Record<string, string>, string]>([
    ['another format', 'approval_activity', { format: 'docx' }, 'format'],
    ['a format in capitals', 'approval_activity', { format: 'CSV' }, 'format'],
    ['an empty format', 'approval_activity', { format: '' }, 'format'],
    ['a page of a file', 'account_statement', { format: 'csv', cursor: 'MTc2ODAuY21pOGgyazFw' }, 'cursor'],
    ['an unknown zone', 'transaction_activity', { format: 'pdf', timezone: 'Mars/Olympus' }, 'timezone'],
    ['an inverted interval', 'asset_movement', { format: 'xlsx', from: '2027-01-01' }, 'from'],
    ['an address and a folder', 'address_activity', { format: 'csv', folderId: 'f' }, 'addressId'],
    ['an unknown exception', 'operations_exceptions', { format: 'csv', exceptions: 'nothing' }, 'exceptions'],
    [
      'a field that no category has',
      'transaction_activity',
      { format: 'csv', categoryField: 'nothing:1' },
      'categoryField',
    ],
  ])('%s is a 400 that names it', async (_, type, query, field) => {
    const { status, json, headers } = await reportFile(type, query)
    expect([status, json!.details?.[0]?.field]).toEqual([400, field])
    expect(headers).not.toHaveProperty('content-disposition')
  })

  it('T39 shows no more than JSON: 404 for hidden subjects, 403 for the userId of another user', async () => {
    for (const format of ['csv', 'xlsx', 'pdf']) {
      expect((await reportFile('address_activity', { format, addressId: world.foreign.id })).status).toBe(404)
      expect((await reportFile('account_statement', { format, addressId: world.foreign.id })).status).toBe(404)
      expect((await reportFile('transaction_activity', { format, userId: world.other.userId })).status).toBe(403)
    }
    const before = await reportFile('transaction_activity', { format: 'csv' })
    await world.add({ at: '2026-01-09T12:00:00.000Z', amount: '999', address: world.foreign, by: world.other })
    const after = await reportFile('transaction_activity', { format: 'csv' })
    const withoutHead = (file: File) => textOf(file).replace(/^(Report|Data cutoff|Generated at),.*$/gm, '')
    expect(withoutHead(after)).toBe(withoutHead(before))
    expect(withoutHead(await reportFile('transaction_activity', { format: 'csv' }, world.admin))).toContain('999')
  })
})

const exportsPath = () => `/vaults/${world.vault.code}/reports` as const
const order = (type: ReportType, body: object = {}, by: Person = world.owner, headers = {}) =>
  by.post(`${exportsPath()}/${type}/exports`, { format: 'csv', ...interval, ...queries[type], ...body }, headers)
const stateOf = async (id: string, by: Person = world.owner) => (await by.get(`${exportsPath()}/exports/${id}`)).body
const make = () => runDueExports(world.test.deps, new AbortController().signal)

async function ordered(type: ReportType, body: object = {}, by: Person = world.owner): Promise<string> {
  const answer = await order(type, body, by)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body.id
}

async function made(type: ReportType, body: object = {}, by: Person = world.owner): Promise<string> {
  const id = await ordered(type, body, by)
  await make()
  expect(await stateOf(id, by)).toMatchObject({ state: 'done' })
  return id
}

describe('an export', () => {
  it('is ordered, made, polled and fetched, and equals the direct file', async () => {
    for (const format of ['csv', 'xlsx', 'pdf'] as const) {
      const { body, status } = await order('account_statement', { format })
      expect([status, Object.keys(body)]).toEqual([202, ['id']])
      const { id } = body
      expect(await stateOf(id)).toMatchObject({
        id,
        type: 'account_statement',
        format,
        parameters: { ...queries.account_statement, from: '2025-12-31T23:00:00.000Z', to: '2026-01-31T23:00:00.000Z' },
        state: 'queued',
        percent: 0,
        failure: null,
        download: null,
        sizeBytes: null,
        sha256: null,
        startedAt: null,
        finishedAt: null,
      })
      const early = await fetchFile(`exports/${id}/download`)
      expect([early.status, early.json!.message]).toEqual([409, 'The export is queued; wait until `state` is `done`'])
      await make()
      const done = await stateOf(id)
      expect(done).toMatchObject({
        state: 'done',
        percent: 100,
        download: `/api/v1/vaults/main-vault/reports/exports/${id}/download`,
      })
      const file = await fetchFile(`exports/${id}/download`)
      expect(file.status).toBe(200)
      expect(file.headers).toMatchObject({
        'content-type': mediaTypes[kindOf(format, 'account_statement')],
        'content-disposition': `attachment; filename="account_statement-${id}.${kindOf(format, 'account_statement')}"`,
        'content-length': String(file.bytes.length),
        'x-content-type-options': 'nosniff',
      })
      expect(done.sizeBytes).toBe(file.bytes.length)
      const digest = createHash('sha256').update(file.bytes).digest()
      expect(done.sha256).toBe(digest.toString('hex'))
      expect(file.headers['repr-digest']).toBe(`sha-256=:${digest.toString('base64')}:`)
      if (format !== 'csv') continue
      const atOnce = textOf(await reportFile('account_statement', { format }))
      const bare = (text: string) => text.replace(/^(Report|Data cutoff|Generated at|Filter),.*\r\n/gm, '')
      expect(bare(textOf(file))).toBe(bare(atOnce))
    }
  })

  it('accepts lists as arrays, and keeps the interval of the time of its order', async () => {
    const { status, body } = await world.owner.post(`${exportsPath()}/transaction_activity/exports`, {
      format: 'csv',
      statuses: ['confirmed', 'failed'],
    })
    expect(status).toBe(202)
    const { parameters, createdAt } = await stateOf(body.id)
    expect(parameters.to).toBe(createdAt)
    world.test.clock.advance(3_600_000)
    await make()
    const text = textOf(await fetchFile(`exports/${body.id}/download`))
    expect(text).toContain('Statuses,"confirmed, failed",\r\n')
    expect(text).toContain(`To,"${String(parameters.to).slice(0, 10)} `)
  })

  it('records who exported which figures from the vault', async () => {
    const id = await ordered('approval_activity')
    const { body } = await world.admin.get(`/vaults/main-vault/audit-log?target=${id}`)
    expect(body.items).toMatchObject([
      { action: 'report.exported', actorId: world.owner.userId, details: { type: 'approval_activity', format: 'csv' } },
    ])
  })

  it.each<[string, ReportType, object, string]>([
    ['no format', 'approval_activity', { format: undefined }, 'format'],
    ['JSON, which needs no file', 'approval_activity', { format: 'json' }, 'format'],
    ['a parameter of another report', 'approval_activity', { groupBy: 'day' }, 'groupBy'],
    ['a parameter of no report', 'approval_activity', { everything: true }, 'everything'],
    ['a page', 'account_statement', { limit: 1 }, 'limit'],
    ['no value for what the report needs', 'account_statement', { tokenId: undefined }, 'tokenId'],
    ['a list as text', 'transaction_activity', { statuses: 'confirmed' }, 'statuses'],
    ['an inverted interval', 'transaction_activity', { from: '2027-01-01' }, 'from'],
    ['an unknown zone', 'transaction_activity', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['another currency', 'transaction_activity', { baseCurrency: 'EUR' }, 'baseCurrency'],
    ['an address and a folder', 'address_activity', { folderId: 'f' }, 'addressId'],
    ['days over ten years', 'transaction_activity', { groupBy: 'day', from: '2010-01-01' }, 'to'],
  ])('%s is a 400 that names it, and orders nothing', async (_, type, body, field) => {
    const answer = await order(type, body)
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field])
    expect(await world.sql('select from report_exports')).toHaveLength(0)
  })

  it('an unknown report is a 400', async () => {
    const answer = await world.owner.post(`${exportsPath()}/everything/exports`, { format: 'csv' })
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'type'])
  })

  it('T50 is ordered once with the same key, and another body is a conflict', async () => {
    const headers = { 'idempotency-key': 'export-1' }
    const first = await order('approval_activity', {}, world.owner, headers)
    const second = await order('approval_activity', {}, world.owner, headers)
    expect([second.status, second.body, second.headers['idempotency-replayed']]).toEqual([202, first.body, 'true'])
    expect((await order('approval_activity', { format: 'pdf' }, world.owner, headers)).status).toBe(409)
    expect(await world.sql('select from report_exports')).toHaveLength(1)
  })

  it('T54 is limited in the number that one caller has waiting, also at concurrent requests', async () => {
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => order('approval_activity')))).map(
      ({ status, headers }) => [status, status === 429 ? headers['retry-after'] : null],
    )
    expect(statuses.filter(([status]) => status === 202)).toHaveLength(exportsOpenPerCallerMax)
    expect(statuses.filter(([status]) => status === 429)).toEqual(Array(5).fill([429, '10']))
    expect((await order('approval_activity', {}, world.other)).status).toBe(202)
    await make()
    expect((await order('approval_activity')).status).toBe(202)
  })

  it('T54 replaces the oldest files of its caller', async () => {
    const first = await made('approval_activity')
    await world.sql(
      `insert into report_exports select vault_id, 'cfill' || lpad(i::text, 20, '0'), requester_id, report_type, format, parameters,
        state, percent, attempt, leased_until, failure, size_bytes, seen_whole_vault, seen_group_ids, seen_shared_ids,
        seen_category_rights, created_at + interval '1 second' * i, started_at, finished_at, expires_at
      from report_exports, generate_series(1, 19) i where id = $1`,
      [first],
    )
    expect(await stateOf(first)).toMatchObject({ state: 'done' })
    await ordered('approval_activity')
    expect(await stateOf(first)).toMatchObject({ state: 'expired', download: null })
  })

  it('T39 is visible to its requester only, also that of an administrator', async () => {
    const id = await made('account_statement')
    for (const by of [world.other, world.admin]) {
      expect((await by.get(`${exportsPath()}/exports/${id}`)).status).toBe(404)
      expect((await by.get(`${exportsPath()}/exports/${id}/download`)).status).toBe(404)
    }
    expect((await order('account_statement', {}, world.other)).status).toBe(404)
    const foreign = await order('transaction_activity', { userId: world.other.userId })
    expect(foreign.status).toBe(403)
  })

  it('expires after a day, and is reported as expired', async () => {
    const id = await made('approval_activity')
    world.test.clock.advance(exportTtlHours * 3_600_000)
    expect(await stateOf(id)).toMatchObject({ state: 'expired', download: null })
    expect((await fetchFile(`exports/${id}/download`)).status).toBe(404)
  })

  it('is made of an empty report, too', async () => {
    const id = await made('account_statement', { ...quiet, tables: 'all' })
    const tables = tablesOf((await fetchFile(`exports/${id}/download`)).bytes)
    expect(tables.get('lines.csv')).toHaveLength(1)
    expect(tables.get('totals.csv')).toEqual([
      ['debits', 'credits', 'fees', 'feesUsd', 'otherDebits'],
      ['0', '0', '0', '0.00', '0'],
    ])
  })
})

describe('the list of exports', () => {
  it('T39 holds the exports of the caller, newest first, page by page, and no others', async () => {
    const path = `/vaults/${world.vault.code}/reports/exports` as const
    const idsOf = ({ items }: { items: ReportExport[] }): string[] => items.map(({ id }) => id)
    const older = await ordered('approval_activity')
    const newer = await ordered('approval_activity')
    const first = (await world.owner.get(`${path}?limit=1`)).body
    const second = (await world.owner.get(`${path}?limit=1&cursor=${first.nextCursor}`)).body
    expect([...idsOf(first), ...idsOf(second)]).toEqual([newer, older])
    expect(first.items[0]).toEqual((await world.owner.get(`${path}/${newer}`)).body)
    for (const by of [world.other, world.admin]) {
      const ids = idsOf((await by.get(`${path}?limit=100`)).body)
      expect(ids.filter((id) => id === newer || id === older)).toEqual([])
    }
  })
})

describe('a file is withheld after its requester lost access to', () => {
  const download = (id: string, by: Person) => fetchFile(`exports/${id}/download`, by)
  const leave = async (groupCode: string, { userId }: Person) => {
    const removed = await world.sql(
      `delete from policy_group_memberships m using policy_groups g
      where g.vault_id = m.vault_id and g.id = m.group_id and g.code = $1 and m.user_id = $2 returning m.id`,
      [groupCode, userId],
    )
    expect(removed).toHaveLength(1)
  }

  it('T41 an address that is no longer shared', async () => {
    const viewer = await addMember(world.test, world.vault, 'viewer@example.org')
    const path = `/vaults/main-vault/addresses/${world.own.id}/grants` as const
    const grant = await world.owner.post(path, { subjectType: 'user', subjectId: viewer.userId })
    expect(grant.status).toBe(201)
    const id = await made('transaction_activity', { includeShared: true }, viewer)
    expect((await download(id, viewer)).status).toBe(200)
    expect((await world.owner.delete(`${path}/${grant.body.id}`)).status).toBe(204)
    const { status, json } = await download(id, viewer)
    expect([status, json!.message]).toEqual([403, 'You may no longer see everything in this file; create a new export'])
    expect((await download(await made('transaction_activity', { includeShared: true }, viewer), viewer)).status).toBe(
      200,
    )
  })

  it('T47 the administrators’ group', async () => {
    const admin = await addMember(world.test, world.vault, 'second.admin@example.org', ['members', 'administrators'])
    const id = await made('transaction_activity', {}, admin)
    expect((await download(id, admin)).status).toBe(200)
    await leave('administrators', admin)
    expect((await download(id, admin)).status).toBe(403)
  })

  it('a category that became restricted', async () => {
    const id = await made('category_analytics')
    await world.sql(`update operation_categories set view_scope = 'restricted' where key = 'payroll'`)
    expect((await download(id, world.owner)).status).toBe(403)
    await world.sql(
      `update operation_categories set view_scope = 'vault_members', edit_scope = 'restricted' where key = 'payroll'`,
    )
    expect((await download(id, world.owner)).status).toBe(403)
    await world.sql(`update operation_categories set edit_scope = 'vault_members' where key = 'payroll'`)
    expect((await download(id, world.owner)).status).toBe(200)
  })

  it('T47 the vault: no file is made for them or given to them', async () => {
    const leaver = await addMember(world.test, world.vault, 'leaver@example.org')
    const done = await made('transaction_activity', {}, leaver)
    const waiting = await ordered('transaction_activity', {}, leaver)
    await leave('members', leaver)
    await make()
    expect((await download(done, leaver)).status).toBe(403)
    expect(await world.sql('select state, failure from report_exports where id = $1', [waiting])).toEqual([
      { state: 'failed', failure: 'You are not a member of this vault' },
    ])
    expect(await world.sql('select from report_export_chunks where export_id = $1', [waiting])).toHaveLength(0)
  })
})

describe('the making of exports', () => {
  const taking = (id: string) =>
    world
      .sql('select state, attempt, percent, leased_until, failure from report_exports where id = $1', [id])
      .then(([row]) => row)
  const later = (seconds: number) => ({
    ...world.test.deps,
    clock: () => new Date(world.test.clock.now().getTime() + seconds * 1_000),
  })

  it('T24 two nodes make each file once, and share the work', async () => {
    const ids = [
      await ordered('approval_activity'),
      await ordered('transaction_activity'),
      await ordered('asset_movement'),
    ]
    // A making that fails, such as for a connection that a busy machine gave too late, starts again and says so in the log.
    const failures: { exportId?: string; err?: { message: string } }[] = []
    const log = pino({ level: 'error' }, { write: (line: string) => failures.push(JSON.parse(line)) })
    const makeLogged = () => runDueExports({ ...world.test.deps, log }, new AbortController().signal)
    await Promise.all([makeLogged(), makeLogged(), makeLogged()])
    for (const id of ids) {
      const failed = failures.filter((line) => line.exportId === id).map((line) => line.err?.message)
      expect(await taking(id), String(failed)).toMatchObject({ state: 'done', attempt: 1 + failed.length })
    }
  })

  it('T23 the file of a dead node is started again, and completed once', async () => {
    const id = await ordered('account_statement')
    await world.sql(
      `update report_exports set state = 'running', attempt = 1, leased_until = $2, percent = 40 where id = $1`,
      [id, later(60).clock()],
    )
    await world.sql(
      `insert into report_export_chunks (vault_id, export_id, attempt, position, bytes) values ($1, $2, 1, 0, 'half a file')`,
      [world.vault.id, id],
    )
    await make()
    expect(await taking(id)).toMatchObject({ state: 'running', attempt: 1 })
    await runDueExports(later(61), new AbortController().signal)
    expect(await taking(id)).toMatchObject({ state: 'done', attempt: 2 })
    expect(readCsv((await fetchFile(`exports/${id}/download`)).bytes.toString('utf8')).length).toBeGreaterThan(1)
    expect(await world.sql('select distinct attempt from report_export_chunks')).toEqual([{ attempt: 2 }])
  })

  it('an export fails after several starts', async () => {
    const id = await ordered('account_statement')
    await world.sql(
      `update report_exports set state = 'running', attempt = 3, leased_until = now() - interval '1 minute' where id = $1`,
      [id],
    )
    await make()
    expect(await stateOf(id)).toMatchObject({
      state: 'failed',
      failure: 'The export was begun several times and never completed',
    })
  })

  it('an export that can no longer be made fails with a reason', async () => {
    const address = await addMember(world.test, world.vault, 'grantee@example.org')
    const path = `/vaults/main-vault/addresses/${world.own.id}/grants` as const
    const grant = await world.owner.post(path, { subjectType: 'user', subjectId: address.userId })
    const id = await ordered('account_statement', { includeShared: true }, address)
    await world.owner.delete(`${path}/${grant.body.id}`)
    await make()
    expect(await stateOf(id, address)).toMatchObject({ state: 'failed', percent: 0, failure: 'Address not found' })
    const file = await fetchFile(`exports/${id}/download`, address)
    expect([file.status, file.json!.message]).toEqual([409, 'The export failed; its `failure` says why'])
  })

  describe('in the middle', () => {
    function gate(): { promise: Promise<void>; resolve: () => void } {
      let resolve = () => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      return { promise, resolve: () => resolve() }
    }

    // Other databases of the server have tables of the same number.
    const waitingForChunks = `select from pg_locks where not granted and relation = 'report_export_chunks'::regclass
      and database = (select oid from pg_database where datname = current_database())`

    /** Runs `during` while the first chunk of a file of several waits to be written. */
    async function whileMaking(
      id: string,
      signal: AbortSignal,
      during: (beat: () => Promise<unknown>) => Promise<void>,
    ): Promise<void> {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      const held = gate()
      const locked = gate()
      const lock = world.test.deps.db.transaction().execute(async (trx) => {
        await sql`lock table report_export_chunks in share row exclusive mode`.execute(trx)
        locked.resolve()
        await held.promise
      })
      try {
        await locked.promise
        const making = runDueExports(world.test.deps, signal)
        await expect.poll(async () => (await world.sql(waitingForChunks)).length).toBe(1)
        expect(await taking(id)).toMatchObject({ state: 'running' })
        await during(() => vi.advanceTimersByTimeAsync(exportHeartbeatMilliseconds))
        held.resolve()
        await making
      } finally {
        held.resolve()
        await lock
        vi.useRealTimers()
      }
    }

    /** SQL: 38 digits that follow from a number and look random. */
    const digits = (number: string) =>
      `('1' || lpad(abs(hashint8(${number}))::text, 10, '0')
        || lpad(abs(hashtextextended((${number})::text, 7) % 1e18::int8)::text, 18, '0')
        || lpad(abs(hashint8extended(${number}, 9) % 1000000000)::text, 9, '0'))::numeric`

    let manyTokenId: string
    beforeAll(async () => {
      manyTokenId = world.vault.tokens.eth.id
      // Ids, amounts and balances that hardly compress, so that few rows have many chunks.
      await world.add({ at: '2026-01-05T00:00:00.000Z', amount: '1', token: 'eth' })
      await world.sql(
        `insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
         select vault_id, 'deposit', token_id, 'c' || left(md5(i::text), 24), number, ${digits('i')}, ${digits('-i')},
           '2026-01-06'::timestamptz + i * interval '1 second'
         from ledger_accounts, generate_series(1, 20000) i
         where vault_id = $1 and address_id = $2 and token_id = $3 and purpose = 'available'`,
        [world.vault.id, world.own.id, manyTokenId],
      )
    })
    const orderMany = () => ordered('account_statement', { tokenId: manyTokenId })

    it('reports its progress', async () => {
      const id = await orderMany()
      await whileMaking(id, new AbortController().signal, async (beat) => {
        await beat()
        await expect.poll(async () => (await taking(id)).percent).toBeGreaterThan(0)
        const { state, percent, download, startedAt } = await stateOf(id)
        expect([state, download, startedAt]).toEqual(['running', null, expect.any(String)])
        expect(percent).toBeLessThan(100)
      })
      expect(await stateOf(id)).toMatchObject({ state: 'done', percent: 100 })
      const { bytes } = await fetchFile(`exports/${id}/download`)
      expect(readCsv(bytes.toString('utf8'))).toHaveLength(1 + 1 + 20_000)
      const chunks = await world.sql('select bytes from report_export_chunks where export_id = $1 order by position', [
        id,
      ])
      expect(chunks.length).toBeGreaterThan(2)
      const stored = createHash('sha256').update(Buffer.concat(chunks.map((row) => row.bytes)))
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(stored.digest('hex'))
    })

    it('a node that stops releases it without its chunks, and another node starts it again', async () => {
      const id = await orderMany()
      const stopping = new AbortController()
      await whileMaking(id, stopping.signal, async () => stopping.abort())
      expect(await taking(id)).toMatchObject({ state: 'queued', percent: 0, leased_until: null })
      expect(await world.sql('select from report_export_chunks where export_id = $1', [id])).toHaveLength(0)
      await make()
      expect(await taking(id)).toMatchObject({ state: 'done', attempt: 2 })
    })

    it('T24 a node that lost its claim writes no more, and does not damage the file of the other node', async () => {
      const id = await orderMany()
      await whileMaking(id, new AbortController().signal, async () => {
        // Another node has claimed the export since.
        await world.sql(`update report_exports set attempt = attempt + 1 where id = $1`, [id])
      })
      expect(await taking(id)).toMatchObject({ state: 'running', attempt: 2 })
      expect(
        await world.sql('select from report_export_chunks where export_id = $1 and attempt = 1', [id]),
      ).toHaveLength(0)
      await runDueExports(later(61), new AbortController().signal)
      expect(await taking(id)).toMatchObject({ state: 'done', attempt: 3 })
    })

    it('an internal error is retried, and then reported without details', async () => {
      const id = await orderMany()
      await world.sql(
        `create function fail() returns trigger language plpgsql as $$ begin raise exception 'secret detail'; end $$`,
      )
      await world.sql(`create trigger fail before insert on report_export_chunks execute function fail()`)
      try {
        await make()
      } finally {
        await world.sql('drop function fail cascade')
      }
      expect(await stateOf(id)).toMatchObject({
        state: 'failed',
        failure: 'The file could not be made; try again later',
      })
      expect(await taking(id)).toMatchObject({ attempt: 3 })
    })

    it('a missing chunk breaks the download instead of ending it', async () => {
      const id = await orderMany()
      await make()
      await world.sql('delete from report_export_chunks where export_id = $1 and position = 1', [id])
      await expect(fetchFile(`exports/${id}/download`)).rejects.toThrow()
    })
  })
})

describe('housekeeping', () => {
  // Must be the last test, because it ends sessions.
  it('removes a file after its time, and its row a month later', async () => {
    const expired = await made('approval_activity')
    world.test.clock.advance(exportTtlHours * 3_600_000)
    const young = await made('approval_activity')
    await deleteExpiredRows(world.test.deps)
    const chunks = await world.sql('select distinct export_id from report_export_chunks')
    expect(chunks.map((row) => row.export_id)).toEqual([young])
    expect(await stateOf(expired)).toMatchObject({ state: 'expired' })
    world.test.clock.advance((exportRecordTtlHours - 1) * 3_600_000)
    await deleteExpiredRows(world.test.deps)
    expect(await world.sql('select id from report_exports')).toHaveLength(2)
    world.test.clock.advance(2 * 3_600_000)
    await deleteExpiredRows(world.test.deps)
    expect(await world.sql('select id from report_exports')).toEqual([{ id: young }])
  })
})
