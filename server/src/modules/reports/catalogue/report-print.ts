import type { Member } from '../../../access/caller.ts'
import type { Head } from '../../record/seals/queries.ts'
import type { Fact, Print } from '../documents/document.ts'
import { printTime } from '../documents/print.ts'
import { type Language, type Words, wordsOf } from '../documents/words.ts'
import { createZonedTime } from '../documents/zoned-time.ts'
import { daysBefore } from '../requests/buckets.ts'
import type { Parameters, ReportRequest } from '../requests/report-request.ts'
import type { SubjectNames } from '../requests/subject-names.ts'
import { notFilters, toFilter } from './report-facts.ts'

/** The source of the pages of a report, besides its tables. */
export type PrintSource = {
  organisationName: string | null
  member: Pick<Member, 'vault' | 'userId' | 'email'>
  request: ReportRequest
  parameters: Parameters
  names: SubjectNames
  /** The newest seals of the vault that the reader may see. */
  heads: readonly Pick<Head, 'log' | 'sequence' | 'hash'>[]
}

/** Returns the texts of the pages of a report, in the language that the reader chose. */
export function toPrint(source: PrintSource): Omit<Print, 'lead'> {
  const { organisationName, member, request, parameters, names, heads } = source
  const words = wordsOf((parameters.language as Language | undefined) ?? 'en')
  const { filter, timezone, now } = request
  const time = createZonedTime(timezone)
  const print = (instant: Date) => printTime(instant, time, words.language)
  const vault = `${member.vault.name} (${member.vault.code})`
  const period = periodOf(request, words, print)
  const covers = coverage(request, names, words)
  const filters = Object.entries(parameters)
    .filter(([name, value]) => value !== undefined && !notFilters.has(name))
    .map(([name, value]) => inWords(toFilter(name, value, names), words))
    .sort((a, b) => (a.label < b.label ? -1 : 1))
  const filterText = filters.map(({ label, value }) => `${label}: ${value}`).join('; ')
  const author = `${member.email ?? member.userId}, ${print(now)}`
  return {
    language: words.language,
    title: words.titleOf(request.type),
    block: [
      ...(organisationName === null ? [] : [{ label: words.text('organisation'), value: organisationName }]),
      { label: words.text('vault'), value: vault },
      { label: words.text('period'), value: period },
      { label: words.text('preparedBy'), value: author },
      ...heads.map(({ log, sequence, hash }) => ({
        label: words.text('record'),
        value: words.text('head', { log: words.text(log), sequence, hash }),
      })),
    ],
    notice: filter.interval.to > now ? words.text('notEnded', { time: print(now) }) : null,
    facts: [
      { label: words.label('Covers'), value: covers },
      { label: words.label('Date basis'), value: words.code(filter.dateBasis) },
      { label: words.label('Classification'), value: words.code(filter.counterpartyClassification) },
      { label: words.label('Base currency'), value: request.baseCurrency },
      ...(filters.length === 0 ? [{ label: words.label('Filter'), value: words.text('noFilters') }] : filters),
    ],
    pageHead: [
      words.text('pageHead', { vault, period, time: print(now) }),
      words.text('covers', { what: covers, filters: filterText || words.text('noFilters') }),
    ],
  }
}

/** Returns the first and the last day if the interval is of whole days in its zone, otherwise its instants. */
function periodOf({ filter, timezone }: ReportRequest, words: Words, print: (instant: Date) => string): string {
  const { from, to } = filter.interval
  const isOfDays = [from, to].every((bound) => daysBefore(bound, timezone, 0).getTime() === bound.getTime())
  if (!isOfDays) return words.text('instants', { from: print(from), to: print(to), zone: timezone })
  const last = new Date(to.getTime() - 1)
  return words.text('days', { from: words.day(from, timezone), to: words.day(last, timezone), zone: timezone })
}

function coverage({ filter: { scope } }: ReportRequest, names: SubjectNames, words: Words): string {
  const { isWholeVault, ownerId, includesShared, viewer } = scope
  if (isWholeVault) return words.text('wholeVault')
  const isOfViewer = ownerId === viewer.userId
  const parts = [
    ...(ownerId === null
      ? []
      : [
          isOfViewer
            ? words.text('ownOperations')
            : words.text('operationsOf', { name: names.get(ownerId) ?? ownerId }),
        ]),
    ...(includesShared ? [words.text('sharedByOthers')] : []),
  ]
  const [first = '', second] = parts
  return second === undefined ? first : words.text('and', { first, second })
}

const inWords = ({ label, value }: Fact, words: Words): Fact => ({
  label: words.filter(label),
  value: value.split(', ').map(words.code).join(', '),
})
