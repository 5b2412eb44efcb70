import type { ChangeSet } from '@strongroom/sdk'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'

type Draft = Pick<ChangeSet, 'title' | 'changes'>
type Values = { title: string; changes: string }

type DraftFormProps = { code: string; set: ChangeSet; onDone: (set: ChangeSet) => void }

/**
 * The title and the changes of a draft. The changes are JSON as in the API, because a draft takes the bodies of many
 * endpoints.
 */
export function DraftForm({ code, set, onDone }: DraftFormProps) {
  const { register, handleSubmit, setError, formState } = useForm<Values>({
    defaultValues: { title: set.title, changes: JSON.stringify(set.changes, null, 2) },
  })
  const { changeSets } = vaultOf(code)
  const write = useWrite<Draft, ChangeSet>({
    renews: ['governance', code],
    said: t('The draft is saved'),
    write: (draft) => changeSets.update(set.id, draft),
    onDone,
  })
  const save = ({ title, changes }: Values) => {
    try {
      write.mutate({ title, changes: JSON.parse(changes) as Draft['changes'] })
    } catch {
      setError('changes', { message: t('This is not JSON.') })
    }
  }
  return (
    <form onSubmit={handleSubmit(save)}>
      <TextField
        label={t('What the change is for')}
        required
        maxLength={200}
        error={write.fields.get('title')}
        {...register('title')}
      />
      <TextArea
        label={t('Changes')}
        hint={t('As in docs/governance.md. They are tried at once and take effect together.')}
        rows={12}
        required
        spellCheck={false}
        error={formState.errors.changes?.message}
        {...register('changes')}
      />
      <WriteFailed write={write} shown={['title']} />
      <Button type="submit" look="primary" busy={write.isPending}>
        {t('Save the draft')}
      </Button>
    </form>
  )
}
