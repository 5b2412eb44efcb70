import type { CategoryAssignment, OperationCategory } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { SelectField } from '../../ui/field.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { AssignedCategories } from './assigned-categories.tsx'
import { CategoryForm } from './category-form.tsx'
import { assignmentsQuery, availableCategoriesQuery, type Operation } from './queries.ts'
import { WaitsForApproval } from './waits-for-approval.tsx'

type CategoryEditorProps = { operation: Operation; onDone: () => void }

/** The assigned categories, and the form that assigns or edits a category. */
export function CategoryEditor({ operation, onDone }: CategoryEditorProps) {
  const available = useQuery(availableCategoriesQuery(operation))
  const assigned = useQuery(assignmentsQuery(operation))
  const [requestId, setRequestId] = useState<string | null>(null)
  if (requestId !== null) return <WaitsForApproval code={operation.code} requestId={requestId} />
  const loading = available.data === undefined ? available : assigned
  return (
    <DetailState query={loading}>
      <Editor
        operation={operation}
        available={available.data ?? []}
        assigned={assigned.data ?? []}
        onDone={onDone}
        onPending={setRequestId}
      />
    </DetailState>
  )
}

type EditorProps = {
  operation: Operation
  available: OperationCategory[]
  assigned: CategoryAssignment[]
  onDone: () => void
  onPending: (requestId: string) => void
}

function Editor({ operation, available, assigned, onDone, onPending }: EditorProps) {
  const [key, setKey] = useState(() => firstChoice(available, assigned))
  const category = available.find((candidate) => candidate.key === key)
  if (available.length === 0 && assigned.length === 0) {
    return (
      <p className="text-quiet">{t('There is no category that you may assign here. An administrator can make one.')}</p>
    )
  }
  return (
    <>
      <AssignedCategories operation={operation} assigned={assigned} available={available} onPending={onPending} />
      {available.length > 0 && (
        <SelectField
          label={assigned.length === 0 ? t('Assign') : t('Assign or change')}
          value={key}
          onChange={({ target }) => setKey(target.value)}
        >
          {available.map(({ key, name, emoji }) => (
            <option key={key} value={key}>
              {emoji === null ? name : `${emoji} ${name}`}
            </option>
          ))}
        </SelectField>
      )}
      {category !== undefined && (
        <CategoryForm
          key={category.key}
          operation={operation}
          category={category}
          assignment={assigned.find((candidate) => candidate.key === category.key) ?? null}
          onSaved={() => {
            remember(category)
            onDone()
          }}
          onPending={onPending}
        />
      )}
    </>
  )
}

/** Returns the first assigned category, otherwise the category that this browser assigned last in the vault. */
function firstChoice(available: OperationCategory[], assigned: CategoryAssignment[]): string {
  const first = available[0]
  if (first === undefined) return ''
  const wanted = assigned[0]?.key ?? localStorage.getItem(storageKey(first))
  return available.find(({ key }) => key === wanted)?.key ?? first.key
}

function remember(category: OperationCategory): void {
  localStorage.setItem(storageKey(category), category.key)
}

const storageKey = ({ vaultId }: OperationCategory) => `strongroom.category.${vaultId}`
