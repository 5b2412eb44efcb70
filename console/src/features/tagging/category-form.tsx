import type { CategoryAssignment, OperationCategory } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { faultsOf } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { CategoryInput } from './category-input.tsx'
import { type Operation, refreshTags } from './queries.ts'
import { type FormValues, fieldsOf, formValuesOf, readForm } from './values.ts'

type CategoryFormProps = {
  operation: Operation
  category: OperationCategory
  assignment: CategoryAssignment | null
  onSaved: () => void
  onPending: (requestId: string) => void
}

/** The fields of a category for an operation, filled with the assigned values or with the defaults. */
export function CategoryForm({ operation, category, assignment, onSaved, onPending }: CategoryFormProps) {
  // A value that the reader may not see stays unchanged.
  const fields = fieldsOf(category.fields).filter(({ sensitive }) => !(sensitive && assignment?.redacted === true))
  const form = useForm<FormValues>({ defaultValues: formValuesOf(fields, assignment?.values ?? null) })
  const client = useQueryClient()
  const { code, type, id } = operation
  const save = useMutation({
    mutationFn: (values: Record<string, unknown>) =>
      vaultOf(code).operations.assignCategory(type, id, category.id, { values }),
    onSuccess: async ({ pendingApproval }) => {
      if (pendingApproval !== null) return onPending(pendingApproval.id)
      announce(t('Saved: {name}', { name: category.name }))
      await refreshTags(client, operation)
      onSaved()
    },
    onError: (error) => {
      for (const { key, message } of fieldFaults(error)) form.setError(key, { message })
    },
  })
  const submit = form.handleSubmit((texts) => {
    const { values, faults } = readForm(fields, texts)
    for (const key of faults) form.setError(key, { message: t('This does not have the form that the field takes.') })
    if (faults.length === 0) save.mutate(values)
  })
  const isShownAtField = fieldFaults(save.error).some(({ key }) => fields.some((field) => field.key === key))
  return (
    <form onSubmit={submit} noValidate>
      {fields.map((field) => (
        <CategoryInput
          key={field.key}
          field={field}
          error={form.formState.errors[field.key]?.message}
          {...form.register(field.key, { required: field.required && t('Please fill this in.') })}
        />
      ))}
      {!isShownAtField && <Problem error={save.error} />}
      {category.approvalScope === 'assign_and_edit' && (
        <p className="mb-3 text-[0.8125rem] text-quiet">
          {t('{count, plural, one {# approver decides} other {# approvers decide}} before it counts.', {
            count: category.approvalThreshold,
          })}
        </p>
      )}
      <Button look="primary" type="submit" busy={save.isPending}>
        {assignment === null ? t('Assign') : t('Save')}
      </Button>
    </form>
  )
}

/** Returns the faults that the service names by field, such as "values.invoice". */
function fieldFaults(error: unknown): { key: string; message: string }[] {
  return faultsOf(error).map(({ field, message }) => ({ key: field.replace(/^(body\.)?values\./, ''), message }))
}
