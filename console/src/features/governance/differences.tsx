import type { RulesDifference } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { groupsQuery, membersQuery } from '../people/queries.ts'
import { kindOf } from './words.ts'

type Difference = RulesDifference['differences'][number]

/** The parts of the rules that differ, each with its values before and after. */
export function Differences({ code, differences }: { code: string; differences: readonly Difference[] }) {
  const members = useQuery(membersQuery(code))
  const groups = useQuery(groupsQuery(code))
  const names = new Map([
    ...(members.data ?? []).map(({ userId, name }) => [userId, name] as const),
    ...(groups.data ?? []).map(({ id, name }) => [id, name] as const),
  ])
  if (differences.length === 0) return <p>{t('Nothing differs.')}</p>
  return (
    <ul className="grid gap-4">
      {differences.map((difference) => (
        <li key={`${difference.kind} ${difference.id}`} className="border-l-2 border-line pl-3">
          <h3 className="flex flex-wrap items-center gap-2 font-medium">
            <span className="[overflow-wrap:anywhere]">
              {difference.id === null ? kindOf(difference.kind) : `${kindOf(difference.kind)}: ${difference.name}`}
            </span>
            {difference.before === null && <Badge tone="good">{t('new')}</Badge>}
            {difference.after === null && <Badge tone="bad">{t('removed')}</Badge>}
          </h3>
          <Values difference={difference} nameOf={(id) => names.get(id) ?? id} />
        </li>
      ))}
    </ul>
  )
}

type Values = Record<string, unknown>

function Values({ difference, nameOf }: { difference: Difference; nameOf: (id: string) => string }) {
  const [before, after] = [difference.before as Values | null, difference.after as Values | null]
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (field) => field !== 'id' && JSON.stringify(before?.[field]) !== JSON.stringify(after?.[field]),
  )
  return (
    <dl className="mt-1 grid grid-cols-[minmax(6.5rem,max-content)_1fr] gap-x-4 gap-y-1">
      {fields.map((field) => (
        <div key={field} className="contents">
          <dt className="text-quiet">{inWords(field)}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">
            {before !== null && <del className="me-2 text-quiet">{textOf(before[field], nameOf)}</del>}
            {after !== null && <ins className="no-underline">{textOf(after[field], nameOf)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Fields are named as in the API, which is what the documentation speaks of. */
function inWords(field: string): string {
  const words = field.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function textOf(value: unknown, nameOf: (id: string) => string): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map((one) => textOf(one, nameOf)).join('; ')
  if (typeof value !== 'object') return nameOf(String(value))
  return Object.entries(value)
    .map(([name, one]) => `${inWords(name)}: ${textOf(one, nameOf)}`)
    .join(', ')
}
