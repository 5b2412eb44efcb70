import type { CounterpartyGroup } from '@strongroom/sdk'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { faultsOf, showFaults } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { useBookChange } from './write.ts'

type Values = { code: string; name: string; description: string; emoji: string }
type Props = { code: string; group: CounterpartyGroup | null; done: (id: string) => void }

/** Creates a group of counterparties, or changes its name. Its code never changes. */
export function GroupForm({ code, group, done }: Props) {
  const { register, handleSubmit, setError, formState } = useForm<Values>({
    defaultValues: {
      code: group?.code ?? '',
      name: group?.name ?? '',
      description: group?.description ?? '',
      emoji: group?.emoji ?? '',
    },
  })
  const save = useBookChange(
    code,
    (values: Values, options) => {
      const groups = vaultOf(code).counterpartyGroups
      const look = { description: values.description.trim() || null, emoji: values.emoji.trim() || null }
      if (group !== null) return groups.update(group.id, { name: values.name, ...look }, options)
      return groups.create({ code: values.code, name: values.name, ...look }, options)
    },
    {
      done: t('Saved'),
      after: ({ id }) => done(id),
      onError: (error) => showFaults<Values>(error, ['code', 'name', 'description', 'emoji'], setError),
    },
  )
  if (save.waiting !== null) return <WaitsForApproval code={code} requestId={save.waiting.id} />
  const { errors } = formState
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))} noValidate>
      {faultsOf(save.error).length === 0 && <Problem error={save.error} />}
      <TextField
        label={t('Name')}
        error={errors.name?.message}
        {...register('name', { required: t('Enter a name.') })}
      />
      {group === null && (
        <TextField
          label={t('Code')}
          hint={t('Lower-case letters, digits and hyphens, such as "suppliers". It cannot be changed.')}
          error={errors.code?.message}
          {...register('code', { required: t('Enter a code.') })}
        />
      )}
      <TextArea label={t('Description')} rows={2} error={errors.description?.message} {...register('description')} />
      <TextField label={t('Emoji')} error={errors.emoji?.message} {...register('emoji')} />
      <Button type="submit" look="primary" busy={save.isPending}>
        {group === null ? t('Create the group') : t('Save')}
      </Button>
    </form>
  )
}
