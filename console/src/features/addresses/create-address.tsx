import type { CreateAddressBody, Route as Segment, Vault } from '@strongroom/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type FieldErrors, type UseFormRegister, useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { newIdempotencyKey, showFaults } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { structureQuery, tokensQuery } from './queries.ts'

type Values = {
  network: string
  segments: Record<string, string>
  token: string
  label: string
  description: string
  tags: string
}

/** Creates an address at a place of the vault's structure. */
export function CreateAddress({ code, done }: { code: string; done: () => void }) {
  const structure = useQuery(structureQuery(code))
  return (
    <DetailState query={structure}>
      {structure.data && <AddressForm code={code} vault={structure.data} done={done} />}
    </DetailState>
  )
}

function AddressForm({ code, vault, done }: { code: string; vault: Vault; done: () => void }) {
  const [key] = useState(newIdempotencyKey)
  const navigate = useNavigate()
  const segments = vault.routes.filter(({ dynamic }) => !dynamic).sort((a, b) => a.order - b.order)
  const { register, handleSubmit, setError, formState } = useForm<Values>({
    defaultValues: { network: vault.networks[0]?.slug ?? '', token: '', label: '', description: '', tags: '' },
  })
  const create = useMutation({
    mutationFn: (values: Values) => vaultOf(code).addresses.create(bodyOf(values), { idempotencyKey: key }),
    onSuccess: ({ value }) => {
      void queryClient.invalidateQueries({ queryKey: ['addresses', code] })
      if (value === null) return
      announce(t('The address is there'))
      done()
      void navigate({ to: `/v/${code}/addresses/${value.id}` as '/' })
    },
    onError: (error) => {
      const fields = ['network', 'token', 'label', 'description', 'tags'] as const
      showFaults<Values>(error, [...fields, ...segments.map(({ code }) => `segments.${code}` as const)], setError)
    },
  })
  if (create.data?.pendingApproval) return <WaitsForApproval code={code} requestId={create.data.pendingApproval.id} />
  const { errors } = formState
  return (
    <form onSubmit={handleSubmit((values) => create.mutate(values))} noValidate>
      {Object.keys(errors).length === 0 && <Problem error={create.error} />}
      <Structure vault={vault} segments={segments} register={register} errors={errors} />
      <TextField
        label={t('Name')}
        hint={t('Such as "Salaries" or "Customer 4711".')}
        error={errors.label?.message}
        {...register('label')}
      />
      <TextField label={t('Description')} error={errors.description?.message} {...register('description')} />
      <TextField
        label={t('Tags')}
        hint={t('Words with commas between them.')}
        error={errors.tags?.message}
        {...register('tags')}
      />
      <Button
        type="submit"
        look="primary"
        busy={create.isPending}
        disabledBecause={
          vault.lockedAt === null ? t('The vault is a draft: its structure must be locked first.') : null
        }
      >
        {t('Create the address')}
      </Button>
    </form>
  )
}

type StructureProps = {
  vault: Vault
  segments: Segment[]
  register: UseFormRegister<Values>
  errors: FieldErrors<Values>
}

function Structure({ vault, segments, register, errors }: StructureProps) {
  const tokens = useQuery(tokensQuery).data ?? []
  return (
    <>
      <SelectField label={t('Network')} error={errors.network?.message} {...register('network', { required: true })}>
        {vault.networks.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </SelectField>
      {segments.map((segment) => (
        <SelectField
          key={segment.id}
          label={segment.name}
          hint={segment.description ?? undefined}
          error={errors.segments?.[segment.code]?.message}
          {...register(`segments.${segment.code}`, { required: t('Choose one.') })}
        >
          {segment.variants
            .filter(({ enabled }) => enabled)
            .map(({ id, code, name }) => (
              <option key={id} value={code}>
                {name}
              </option>
            ))}
        </SelectField>
      ))}
      <SelectField label={t('Main token')} error={errors.token?.message} {...register('token')}>
        <option value="">{t('as the structure says')}</option>
        {tokens
          .filter(({ enabled }) => enabled)
          .map(({ id, code, symbol, network }) => (
            <option key={id} value={code}>
              {symbol} · {network}
            </option>
          ))}
      </SelectField>
    </>
  )
}

function bodyOf({ network, segments, token, label, description, tags }: Values): CreateAddressBody {
  const words = tagsOf(tags)
  return {
    network,
    segments: segments ?? {},
    ...(token === '' ? {} : { token }),
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(words.length === 0 ? {} : { tags: words }),
  }
}

export function tagsOf(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '')
}
