import type { AddressGroup } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { showFaults } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { forgetFolders } from './actions.ts'

type Values = { name: string; description: string; color: string; emoji: string }
type FormProps = { code: string; folder: AddressGroup | null; done: () => void }

/** Creates a folder, or changes its name and look. */
export function FolderForm({ code, folder, done }: FormProps) {
  const { register, handleSubmit, setError, formState } = useForm<Values>({
    defaultValues: {
      name: folder?.name ?? '',
      description: folder?.description ?? '',
      color: folder?.color ?? '',
      emoji: folder?.emoji ?? '',
    },
  })
  const save = useMutation({
    mutationFn: async ({ name, ...look }: Values): Promise<boolean> => {
      const orNull = Object.fromEntries(Object.entries(look).map(([key, value]) => [key, value.trim() || null]))
      const folders = vaultOf(code).addressGroups
      if (folder !== null) return (await folders.update(folder.id, { name, ...orNull })).pendingApproval === null
      await folders.create({ name, ...orNull })
      return true
    },
    onSuccess: (isSaved) => {
      forgetFolders(code)
      if (isSaved) announce(t('Saved'))
      done()
    },
    onError: (error) => showFaults<Values>(error, ['name', 'description', 'color', 'emoji'], setError),
  })
  const { errors } = formState
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))} noValidate>
      {Object.keys(errors).length === 0 && <Problem error={save.error} />}
      <TextField
        label={t('Name')}
        error={errors.name?.message}
        {...register('name', { required: t('Enter a name.') })}
      />
      <TextArea label={t('Description')} rows={2} error={errors.description?.message} {...register('description')} />
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField
          label={t('Colour')}
          placeholder="#1D4ED8"
          hint={t('Six hexadecimal digits after #; none when empty.')}
          error={errors.color?.message}
          {...register('color')}
        />
        <TextField label={t('Emoji')} placeholder="🏦" error={errors.emoji?.message} {...register('emoji')} />
      </div>
      <Button type="submit" look="primary" busy={save.isPending}>
        {folder === null ? t('Create the folder') : t('Save')}
      </Button>
    </form>
  )
}

type DeleteProps = { code: string; folder: AddressGroup; open: boolean; onClose: () => void; deleted: () => void }

export function DeleteFolder({ code, folder, open, onClose, deleted }: DeleteProps) {
  const remove = useMutation({
    mutationFn: () => vaultOf(code).addressGroups.delete(folder.id),
    onSuccess: () => {
      announce(t('{folder} is deleted', { folder: folder.name }))
      deleted()
      forgetFolders(code)
    },
  })
  return (
    <Sheet title={t('Delete {folder}?', { folder: folder.name })} open={open} onClose={onClose}>
      <Problem error={remove.error} />
      <p className="mb-4">
        {folder.sharing.isShared
          ? t('Its addresses stay. Those who see them only through this folder no longer see them.')
          : t('Its addresses stay.')}
      </p>
      <div className="flex gap-2">
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          {t('Delete the folder')}
        </Button>
        <Button onClick={onClose}>{t('Keep it')}</Button>
      </div>
    </Sheet>
  )
}
