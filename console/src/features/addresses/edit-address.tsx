import type { Address } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { showFaults } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { ImageField } from '../../ui/image-field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { tagsOf } from './create-address.tsx'

type Values = { label: string; description: string; tags: string }

export function EditAddress({ code, address, done }: { code: string; address: Address; done: () => void }) {
  const { register, handleSubmit, setError, formState } = useForm<Values>({
    defaultValues: {
      label: address.label ?? '',
      description: address.description ?? '',
      tags: address.tagsJson.join(', '),
    },
  })
  const save = useMutation({
    mutationFn: ({ label, description, tags }: Values) =>
      vaultOf(code).addresses.update(address.id, {
        label: label.trim() || null,
        description: description.trim() || null,
        tags: tagsOf(tags),
      }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['addresses', code] })
      announce(t('Saved'))
      done()
    },
    onError: (error) => showFaults<Values>(error, ['label', 'description', 'tags'], setError),
  })
  const { errors } = formState
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))} noValidate>
      <ImageField
        name={address.label ?? ''}
        image={address.logoUri}
        replace={(image) => vaultOf(code).addresses.replaceImage(address.id, image)}
        remove={() => vaultOf(code).addresses.deleteImage(address.id)}
        renews={[['addresses', code]]}
      />
      {Object.keys(errors).length === 0 && <Problem error={save.error} />}
      <TextField label={t('Name')} error={errors.label?.message} {...register('label')} />
      <TextArea label={t('Description')} error={errors.description?.message} {...register('description')} />
      <TextField
        label={t('Tags')}
        hint={t('Words with commas between them.')}
        error={errors.tags?.message}
        {...register('tags')}
      />
      <Button type="submit" look="primary" busy={save.isPending}>
        {t('Save')}
      </Button>
    </form>
  )
}
