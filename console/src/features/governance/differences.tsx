import type { RulesDifference } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { groupsQuery, membersQuery } from '../people/queries.ts'
import { fieldOf, kindOf } from './words.ts'

type Difference = RulesDifference['differences'][number]

/** Draws a policy of the rules as a sentence. `names` has the names of the groups that only these rules have. */
export type PolicySentence = ComponentType<{
  code: string
  policy: Record<string, unknown>
  names: ReadonlyMap<string, string>
}>
type DifferencesProps = { code: string; differences: readonly Difference[]; Sentence: PolicySentence }

/** The parts of the rules that differ, with their values before and after. */
export function Differences({ code, differences, Sentence }: DifferencesProps) {
  const members = useQuery(membersQuery(code))
  const groups = useQuery(groupsQuery(code))
  const names = new Map([
    ...(members.data ?? []).map(({ userId, name }) => [userId, name] as const),
    ...(groups.data ?? []).map(({ id, name }) => [id, name] as const),
    // Objects that do not exist yet, or no longer.
    ...differences.flatMap(({ id, name }) => (id === null ? [] : [[id, name] as const])),
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
          <Values {...{ code, difference, names, Sentence }} />
        </li>
      ))}
    </ul>
  )
}

type Values = Record<string, unknown>
type PartProps = Omit<DifferencesProps, 'differences'> & { difference: Difference; names: ReadonlyMap<string, string> }

function Values({ code, difference, names, Sentence }: PartProps) {
  const [before, after] = [difference.before as Values | null, difference.after as Values | null]
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (field) => field !== 'id' && JSON.stringify(before?.[field]) !== JSON.stringify(after?.[field]),
  )
  const isTold = (field: string) => difference.kind === 'policy' && ofSentence.has(field)
  return (
    <dl className="mt-1 grid grid-cols-[minmax(6.5rem,max-content)_1fr] gap-x-4 gap-y-1">
      {fields.some(isTold) && (
        <Field
          name={fieldOf('sentence')}
          before={before && <Sentence {...{ code, names }} policy={before} />}
          after={after && <Sentence {...{ code, names }} policy={after} />}
        />
      )}
      {fields
        .filter((field) => !isTold(field))
        .map((field) => {
          const [was, is] = onlyChanged(before?.[field], after?.[field])
          return (
            <Field
              key={field}
              name={fieldOf(field)}
              before={was === undefined ? null : textOf(was, names)}
              after={is === undefined ? null : textOf(is, names)}
            />
          )
        })}
    </dl>
  )
}

/** The fields that the sentence of a policy contains. */
const ofSentence = new Set(['groupId', 'actionType', 'effect', 'approvalThreshold', 'rules', 'approvers'])

function Field({ name, before, after }: { name: string; before: ReactNode; after: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-quiet">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">
        {before !== null && <del className="me-2 text-quiet">{before}</del>}
        {after !== null && <ins className="no-underline">{after}</ins>}
      </dd>
    </div>
  )
}

/** Returns of two lists, such as the members of a group, only the items that the other list lacks. */
function onlyChanged(before: unknown, after: unknown): [unknown, unknown] {
  if (!Array.isArray(before) || !Array.isArray(after)) return [before, after]
  const without = (list: unknown[], other: unknown[]) => {
    const known = new Set(other.map((item) => JSON.stringify(item)))
    const left = list.filter((item) => !known.has(JSON.stringify(item)))
    return left.length === 0 ? undefined : left
  }
  return [without(before, after), without(after, before)]
}

function textOf(value: unknown, names: ReadonlyMap<string, string>): string {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map((item) => textOf(item, names)).join('; ')
  if (typeof value !== 'object') return names.get(String(value)) ?? String(value)
  return Object.entries(value)
    .map(([name, member]) => `${fieldOf(name)}: ${textOf(member, names)}`)
    .join(', ')
}
