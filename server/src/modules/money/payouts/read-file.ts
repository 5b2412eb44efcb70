import type { FastifyRequest } from 'fastify'
import { payloadReader } from '../../../http/read-payload.ts'
import type { Uploads } from '../../../http/route.ts'
import { textOf } from '../../../http/uploads.ts'
import { type CsvRow, readCsv } from '../../../lib/csv.ts'
import { AppError, badRequest, type FieldFault } from '../../../lib/errors.ts'
import { faultsListedMax, rowsPerPayoutMax } from '../../../lib/limits.ts'
import type { PayoutBody, RowBody } from './schema.ts'
import { RowOrder } from './schema.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The lines on which the rows of a file begin; undefined for a JSON body. */
    linesOfRows?: readonly number[]
  }
}

const columns = Object.keys(RowOrder.properties)
const needed: readonly string[] = RowOrder.required
const checkRow = payloadReader(RowOrder)

const exampleRow = {
  externalId: 'salary-2026-01-17',
  fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
  toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  token: 'USDT',
  amount: '1.5',
}

/** Reads a payout from a CSV file into the same body that JSON would have. */
export const payoutFile: Uploads = {
  'text/csv': {
    read: (bytes, request) => readPayoutFile(bytes, request),
    example: `${Object.keys(exampleRow).join(',')}\n${Object.values(exampleRow).join(',')}\n`,
  },
}

export const fileRules =
  'As `text/csv` (RFC 4180, UTF-8) the first line names the columns, which are the fields of a row, separated by `,` or `;`; an ' +
  'empty cell is a field that is left out. `line` of a fault is then the line of the file.'

function readPayoutFile(bytes: Buffer, request: FastifyRequest): PayoutBody {
  const file = readCsv(textOf(request, bytes))
  if ('faults' in file) throw inLines(file.faults)
  const { header, rows } = file
  const faults = faultsOfHeader(header)
  if (faults.length > 0) throw inLines(faults)
  if (rows.length === 0) throw badRequest('rows', 'must not be empty')
  if (rows.length > rowsPerPayoutMax) throw badRequest('rows', `must not be more than ${rowsPerPayoutMax}`)
  const orders = rows.map(({ cells }) => toOrder(header, cells))
  assertRows(orders, rows)
  request.linesOfRows = rows.map(({ line }) => line)
  return { rows: orders }
}

/** Names are compared exactly. A column such as `Amount` is a fault of its own, beside the missing column `amount`. */
function faultsOfHeader(header: string[]): FieldFault[] {
  const named = new Set<string>()
  const faults = header.flatMap((name) => {
    const fault = !columns.includes(name) ? 'is not a column of a payout' : named.has(name) ? 'is named twice' : null
    named.add(name)
    return fault === null ? [] : [{ line: 1, field: name.slice(0, 64) || 'line', message: fault }]
  })
  const missing = needed.filter((name) => !named.has(name))
  return [...faults, ...missing.map((field) => ({ line: 1, field, message: 'is a required column' }))]
}

function toOrder(header: string[], cells: string[]): RowBody {
  const filled = header.flatMap((name, i) => {
    const cell = cells[i]!
    return cell === '' && !needed.includes(name) ? [] : [[name, cell] as const]
  })
  return Object.fromEntries(filled) as RowBody
}

/** Checks each row separately, so that every faulty line is named, however long the file is. */
function assertRows(orders: RowBody[], rows: CsvRow[]): void {
  const faults: FieldFault[] = []
  for (const [i, order] of orders.entries()) {
    if (faults.length >= faultsListedMax) break
    try {
      checkRow(order)
    } catch (error) {
      if (!(error instanceof AppError) || !Array.isArray(error.details)) throw error
      faults.push(...error.details.map((fault) => ({ ...fault, line: rows[i]!.line })))
    }
  }
  if (faults.length > 0) throw inLines(faults)
}

function inLines(faults: FieldFault[]): AppError {
  const { line, field, message } = faults[0]!
  const where = field === 'line' ? `line ${line}` : `line ${line}, ${field}`
  return new AppError('validation_failed', `${where}: ${message}`, { details: faults.slice(0, faultsListedMax) })
}

/** Runs `work`, and names the faults of rows by the line of the file and the column if the payout came as a file. */
export async function atLines<Result>({ linesOfRows }: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
  if (linesOfRows === undefined) return work()
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || !Array.isArray(error.details)) throw error
    const faults = error.details.map((fault) => toFaultOfFile(fault, linesOfRows))
    if (error.reason === 'validation_failed') throw inLines(faults)
    throw new AppError(error.reason, error.message, { details: faults })
  }
}

function toFaultOfFile({ line, field, message }: FieldFault, linesOfRows: readonly number[]): FieldFault {
  const column = /^rows\.\d+\.(.+)$/.exec(field)?.[1]
  if (line === undefined || column === undefined) return { field, message }
  return { line: linesOfRows[line - 1] ?? line, field: column, message }
}
