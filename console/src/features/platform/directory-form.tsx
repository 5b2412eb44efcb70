import type { Directory } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { strongroom } from '../../lib/api.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { announce } from '../../ui/toast.tsx'

type Values = { name: string; domains: string }
const fields = ['name', 'domains'] as const

/** Adds a directory, or changes one that is not active. A new one answers its token, which is handed on to be shown. */
export function DirectoryForm({
  directory,
  onDone,
}: {
  directory: Directory | null
  onDone: (token: string | undefined) => void
}) {
  const client = useQueryClient()
  const { register, handleSubmit, formState } = useForm<Values>({
    defaultValues: { name: directory?.name ?? '', domains: directory?.domains.join(', ') ?? '' },
  })
  const save = useMutation({
    mutationFn: (values: Values) =>
      directory === null
        ? strongroom.directories.create(bodyOf(values))
        : strongroom.directories.update(directory.id, bodyOf(values)),
    onSuccess: ({ name, token }) => {
      void client.invalidateQueries({ queryKey: ['directories'] })
      announce(t('{name} is saved.', { name }))
      onDone(token)
    },
  })
  const errors = errorsOfFields(save.error, fields)
  const needed = { required: t('Fill this in.') }
  const error = (name: keyof Values) => formState.errors[name]?.message ?? errors[name]
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))} noValidate>
      <TextField label={t('Name')} error={error('name')} {...register('name', needed)} />
      <TextField
        label={t('Domains')}
        hint={t('Of the e-mail addresses of its people, separated by commas.')}
        error={error('domains')}
        {...register('domains', needed)}
      />
      {save.isError && Object.keys(errors).length === 0 && (
        <div className="mb-4">
          <Failed error={save.error} retry={handleSubmit((values) => save.mutate(values))} />
        </div>
      )}
      <Button type="submit" look="primary" busy={save.isPending}>
        {t('Save')}
      </Button>
    </form>
  )
}

const bodyOf = ({ name, domains }: Values) => ({
  name: name.trim(),
  domains: domains
    .split(/[\s,]+/)
    .filter((domain) => domain !== '')
    .map((domain) => domain.toLowerCase()),
})
