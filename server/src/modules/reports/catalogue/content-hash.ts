import { createHash } from 'node:crypto'
import type { ReportContent } from '../requests/report-request.ts'

/** The fields that differ between two answers with the same parameters and content: the caller and the times. */
const ofAnswer = new Set(['id', 'dataCutoff', 'generatedAt', 'generatedById'])
/** The fields of a page, which a file does not have. */
const ofPage = new Set(['nextCursor'])

type HashedContent = {
  /** The streams, whose items are hashed as they are read. */
  streams: Record<string, AsyncIterable<object>>
  /** Returns the hash in hexadecimal digits. Every stream must have been read to its end. */
  sha256(): string
}

/**
 * Returns the SHA-256 of the content of a report: its JSON answer in the canonical form of RFC 8785 (members sorted, no white
 * space), with the lists of all pages joined. `nextCursor` and the members of `report` that differ between two answers of the
 * same content are left out. docs/report-exports.md explains the computation from answers.
 */
export function hashContent({ report, streams = {} }: ReportContent): HashedContent {
  const hash = createHash('sha256')
  const names = [...new Set([...Object.keys(report), ...Object.keys(streams)])]
    .filter((name) => !ofPage.has(name) && (streams[name] !== undefined || report[name] !== undefined))
    .sort()
  const streamed = names.filter((name) => streams[name] !== undefined)
  if (streamed.length > 1) throw new Error('A report has one stream at most, because two streams have no common order')
  const [stream] = streamed

  const memberOf = (name: string) => {
    const value = name === 'report' ? without(ofAnswer, report.report) : report[name]
    return `${JSON.stringify(name)}:${canonical(value)}`
  }
  const at = stream === undefined ? names.length : names.indexOf(stream)
  const before = names.slice(0, at).map(memberOf)
  const after = names.slice(at + 1).map(memberOf)
  let isRead = stream === undefined
  hash.update(`{${before.join(',')}`)

  async function* followed(rows: AsyncIterable<object>): AsyncGenerator<object> {
    hash.update(`${before.length > 0 ? ',' : ''}${JSON.stringify(stream)}:[`)
    let separator = ''
    for await (const row of rows) {
      hash.update(separator + canonical(row))
      separator = ','
      yield row
    }
    hash.update(`]${after.length > 0 ? `,${after.join(',')}` : ''}`)
    isRead = true
  }

  let digest: string | undefined
  return {
    streams: stream === undefined ? {} : { [stream]: followed(streams[stream]!) },
    sha256() {
      if (!isRead) throw new Error('The hash of a report was requested before all rows were read')
      digest ??= hash.update('}').digest('hex')
      return digest
    },
  }
}

function without(names: ReadonlySet<string>, value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)))
}

/** RFC 8785 writes strings and numbers as JSON.stringify does; only the members of every object are sorted. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (member === null || typeof member !== 'object' || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
