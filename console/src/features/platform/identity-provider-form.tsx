import type { IdentityProvider } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { strongroom } from '../../lib/api.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { announce } from '../../ui/toast.tsx'

type Values = {
  name: string
  issuer: string
  clientId: string
  clientSecret: string
  domains: string
  linking: IdentityProvider['linking']
}
const fields = ['name', 'issuer', 'clientId', 'clientSecret', 'domains', 'linking'] as const

/** Adds an identity provider, or changes one that is not active. */
export function IdentityProviderForm({ provider, onDone }: { provider: IdentityProvider | null; onDone: () => void }) {
  const client = useQueryClient()
  const { register, handleSubmit, formState } = useForm<Values>({
    defaultValues: {
      name: provider?.name ?? '',
      issuer: provider?.issuer ?? '',
      clientId: provider?.clientId ?? '',
      clientSecret: '',
      domains: provider?.domains.join(', ') ?? '',
      linking: provider?.linking ?? 'mail',
    },
  })
  const save = useMutation({
    mutationFn: (values: Values) =>
      provider === null
        ? strongroom.identityProviders.create(bodyOf(values))
        : strongroom.identityProviders.update(provider.id, bodyOf(values)),
    onSuccess: ({ name }) => {
      void client.invalidateQueries({ queryKey: ['identity-providers'] })
      announce(t('{name} is saved.', { name }))
      onDone()
    },
  })
  const errors = errorsOfFields(save.error, fields)
  const needed = { required: t('Fill this in.') }
  const error = (name: keyof Values) => formState.errors[name]?.message ?? errors[name]
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))} noValidate>
      <TextField label={t('Name')} error={error('name')} {...register('name', needed)} />
      <TextField
        label={t('Issuer')}
        hint={t('Exactly as the provider writes it, such as https://login.example.org.')}
        className="code"
        spellCheck={false}
        error={error('issuer')}
        {...register('issuer', needed)}
      />
      <TextField label={t('Client ID')} className="code" error={error('clientId')} {...register('clientId', needed)} />
      <TextField
        label={t('Client secret')}
        type="password"
        autoComplete="off"
        hint={provider?.hasClientSecret === true ? t('Leave it empty to keep the present one.') : undefined}
        error={error('clientSecret')}
        {...register('clientSecret')}
      />
      <TextField
        label={t('Domains')}
        hint={t('Of the e-mail addresses for which it answers, separated by commas.')}
        error={error('domains')}
        {...register('domains', needed)}
      />
      <SelectField label={t('The first sign-in of a person')} error={error('linking')} {...register('linking')}>
        <option value="mail">{t('needs a mailed link')}</option>
        <option value="email_verified">{t('needs an address that the provider verified')}</option>
      </SelectField>
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

function bodyOf({ name, issuer, clientId, clientSecret, domains, linking }: Values) {
  return {
    name: name.trim(),
    issuer: issuer.trim(),
    clientId: clientId.trim(),
    ...(clientSecret === '' ? {} : { clientSecret }),
    domains: domains
      .split(/[\s,]+/)
      .filter((domain) => domain !== '')
      .map((domain) => domain.toLowerCase()),
    linking,
  }
}
