import type { CategoryAssignment, OperationCategory } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { formatAmount } from '../../lib/amounts.ts'
import { vaultOf } from '../../lib/api.ts'
import { formatLocalDay } from '../../lib/day.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { CategoryName } from './category-name.tsx'
import { categoriesQuery, type Operation, refreshTags } from './queries.ts'
import { fieldsOf } from './values.ts'

type AssignedCategoriesProps = {
  operation: Operation
  assigned: readonly CategoryAssignment[]
  available: readonly OperationCategory[]
  onPending: (requestId: string) => void
}

/** The assigned categories, with their values and a button to remove each. */
export function AssignedCategories({ operation, assigned, available, onPending }: AssignedCategoriesProps) {
  const { code, type, id } = operation
  const client = useQueryClient()
  const { data: categories = [] } = useQuery(categoriesQuery(code))
  const remove = useMutation({
    mutationFn: (categoryId: string) => vaultOf(code).operations.unassignCategory(type, id, categoryId),
    onSuccess: async ({ pendingApproval }) => {
      if (pendingApproval !== null) return onPending(pendingApproval.id)
      announce(t('The category was taken away.'))
      await refreshTags(client, operation)
    },
  })
  if (assigned.length === 0) return null
  return (
    <div className="mb-4">
      <ul className="grid gap-2">
        {assigned.map((assignment) => {
          const category = categories.find((candidate) => candidate.id === assignment.categoryId)
          const name = category?.name ?? assignment.key
          return (
            <li key={assignment.id} className="flex items-start justify-between gap-2 rounded-md bg-ground px-3 py-2">
              <div className="min-w-0">
                <CategoryName category={category ?? { name, emoji: null, color: null }} />
                <Values category={category} values={assignment.values} redacted={assignment.redacted} />
              </div>
              {available.some((candidate) => candidate.id === assignment.categoryId) && (
                <button
                  type="button"
                  aria-label={t('Take away {name}', { name })}
                  aria-busy={remove.isPending}
                  className="grid size-8 shrink-0 place-items-center text-quiet hover:text-bad"
                  onClick={() => remove.mutate(assignment.categoryId)}
                >
                  <X size={16} aria-hidden />
                </button>
              )}
            </li>
          )
        })}
      </ul>
      <Problem error={remove.error} />
    </div>
  )
}

type ValuesProps = {
  category: OperationCategory | undefined
  values: Readonly<Record<string, string | null>>
  redacted: boolean
}

function Values({ category, values, redacted }: ValuesProps) {
  const fields = fieldsOf(category?.fields ?? [])
  const filled = fields.filter(({ key, sensitive }) => (values[key] ?? null) !== null || (redacted && sensitive))
  if (filled.length === 0) return null
  return (
    <dl className="mt-1 text-[0.8125rem]">
      {filled.map((field) => (
        <div key={field.key} className="flex flex-wrap gap-x-2">
          <dt className="text-quiet">{field.label}</dt>
          <dd className="[overflow-wrap:anywhere]">{valueWords(field, values[field.key] ?? null, values)}</dd>
        </div>
      ))}
    </dl>
  )
}

type Field = OperationCategory['fields'][number]

function valueWords(field: Field, value: string | null, values: Readonly<Record<string, string | null>>): string {
  if (value === null) return t('hidden')
  const { type, optionsJson, unit, currencyFieldKey } = field
  if (type === 'boolean') return value === 'true' ? t('Yes') : t('No')
  if (type === 'select') return optionsJson?.find((option) => option.value === value)?.label ?? value
  if (type === 'date') return formatLocalDay(value)
  if (type === 'datetime') return formatTime(value)
  if (type !== 'number' && type !== 'currency') return value
  const after = unit ?? (currencyFieldKey === null ? null : (values[currencyFieldKey] ?? null))
  return after === null ? formatAmount(value) : `${formatAmount(value)} ${after}`
}
