import type { CreateTokenBody, Token } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { strongroom } from '../../lib/api.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ImageField } from '../../ui/image-field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { announce } from '../../ui/toast.tsx'
import { networksQuery } from './queries.ts'

type Values = {
  network: string
  code: string
  symbol: string
  name: string
  contractAddress: string
  decimals: string
  dustLimit: string
}
const fields = ['network', 'code', 'symbol', 'name', 'contractAddress', 'decimals', 'dustLimit'] as const

/**
 * Registers a token, or changes the fields of a token that may change. Code, network, contract and decimals never
 * change.
 */
export function TokenForm({ token, onDone }: { token: Token | null; onDone: () => void }) {
  const client = useQueryClient()
  const networks = useInfiniteQuery(networksQuery).data?.pages.flatMap(({ items }) => items) ?? []
  const { register, handleSubmit, formState } = useForm<Values>({
    defaultValues: { symbol: token?.symbol ?? '', name: token?.name ?? '', dustLimit: token?.dustLimit ?? '' },
  })
  const save = useMutation({
    mutationFn: async (values: Values) =>
      token === null
        ? strongroom.tokens.create(creationOf(values))
        : (await strongroom.tokens.update(token.id, changesOf(values))).value,
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: ['tokens'] })
      announce(
        saved === null
          ? t('The change waits for another platform administrator.')
          : t('{name} is saved.', { name: saved.symbol }),
      )
      onDone()
    },
  })
  const errors = errorsOfFields(save.error, fields)
  const needed = { required: t('Fill this in.') }
  const error = (name: keyof Values) => formState.errors[name]?.message ?? errors[name]
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))} noValidate>
      {token !== null && (
        <ImageField
          name={token.symbol}
          image={token.logoUri}
          replace={(image) => strongroom.tokens.replaceImage(token.id, image)}
          remove={() => strongroom.tokens.deleteImage(token.id)}
          renews={[['tokens']]}
        />
      )}
      {token === null && (
        <>
          <SelectField label={t('Network')} error={error('network')} {...register('network', needed)}>
            <option value="">{t('Choose')}</option>
            {networks.map(({ slug, name }) => (
              <option key={slug} value={slug}>
                {name}
              </option>
            ))}
          </SelectField>
          <TextField
            label={t('Contract')}
            hint={t('Leave it empty for the coin of the network.')}
            className="code"
            spellCheck={false}
            error={error('contractAddress')}
            {...register('contractAddress')}
          />
          <TextField
            label={t('Code')}
            hint={t('Requests and policies use this code for the token. The code never changes.')}
            error={error('code')}
            {...register('code', needed)}
          />
          <TextField
            label={t('Decimals')}
            inputMode="numeric"
            hint={t('The decimals of the contract. They never change.')}
            error={error('decimals')}
            {...register('decimals', {
              ...needed,
              pattern: { value: /^\d{1,2}$/, message: t('Write a whole number.') },
            })}
          />
        </>
      )}
      <TextField label={t('Symbol')} error={error('symbol')} {...register('symbol', needed)} />
      <TextField label={t('Name')} error={error('name')} {...register('name', needed)} />
      <TextField
        label={t('Dust limit')}
        inputMode="decimal"
        hint={t('Deposits below this limit are marked as dust. Leave empty for no limit.')}
        error={error('dustLimit')}
        {...register('dustLimit')}
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

function creationOf(values: Values): CreateTokenBody {
  const { network, code, contractAddress, decimals } = values
  const contract = contractAddress.trim() === '' ? null : contractAddress.trim()
  return { network, code: code.trim(), contractAddress: contract, decimals: Number(decimals), ...changesOf(values) }
}

function changesOf({ symbol, name, dustLimit }: Values) {
  return { symbol: symbol.trim(), name: name.trim(), dustLimit: dustLimit.trim() === '' ? null : dustLimit.trim() }
}
