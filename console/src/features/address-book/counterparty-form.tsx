import type { Counterparty } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { type UseFormReturn, useFieldArray, useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { type Kind, kinds, kindWords } from '../../lib/counterparty-kinds.ts'
import { faultsOf } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { structureQuery } from '../addresses/queries.ts'
import { NetworkField } from './network-field.tsx'
import { useBookChange } from './write.ts'

type Values = {
  name: string
  kind: Kind
  description: string
  emoji: string
  addresses: { network: string; address: string; label: string }[]
}

type Props = { code: string; counterparty: Counterparty | null; done: (id: string) => void }

/** Creates a counterparty with its addresses, or changes its name and kind. */
export function CounterpartyForm(props: Props) {
  const structure = useQuery(structureQuery(props.code))
  return (
    <DetailState query={structure}>
      {structure.data && <Form {...props} network={structure.data.networks[0]?.slug ?? ''} />}
    </DetailState>
  )
}

/** @param network the network that a new address starts with */
function Form({ code, counterparty, done, network }: Props & { network: string }) {
  const form = useForm<Values>({
    defaultValues: {
      name: counterparty?.name ?? '',
      kind: counterparty?.kind ?? 'company',
      description: counterparty?.description ?? '',
      emoji: counterparty?.emoji ?? '',
      addresses: counterparty === null ? [{ network, address: '', label: '' }] : [],
    },
  })
  const { register, handleSubmit, setError, formState } = form
  const save = useBookChange(
    code,
    (values: Values, options) => {
      const counterparties = vaultOf(code).counterparties
      const { addresses, name, kind } = values
      const look = { description: values.description.trim() || null, emoji: values.emoji.trim() || null }
      if (counterparty !== null) return counterparties.update(counterparty.id, { name, kind, ...look }, options)
      const filledIn = addresses.filter(({ address }) => address.trim() !== '')
      const entries = filledIn.map(({ network, address, label }) => {
        return { network, address: address.trim(), label: label.trim() || null }
      })
      return counterparties.create({ name, kind, ...look, addresses: entries }, options)
    },
    {
      done: t('Saved'),
      after: ({ id }) => done(id),
      onError: (error) => {
        for (const { field, message } of faultsOf(error)) setError(field as 'name', { message })
      },
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
      <SelectField label={t('Kind')} error={errors.kind?.message} {...register('kind')}>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {kindWords()[kind]}
          </option>
        ))}
      </SelectField>
      <TextArea label={t('Description')} rows={2} error={errors.description?.message} {...register('description')} />
      <TextField label={t('Emoji')} error={errors.emoji?.message} {...register('emoji')} />
      {counterparty === null && <NewAddresses code={code} form={form} network={network} />}
      <Button type="submit" look="primary" busy={save.isPending}>
        {counterparty === null ? t('Add to the address book') : t('Save')}
      </Button>
    </form>
  )
}

type NewAddressesProps = { code: string; form: UseFormReturn<Values>; network: string }

function NewAddresses({ code, form, network }: NewAddressesProps) {
  const { register, control, formState } = form
  const { fields, append, remove } = useFieldArray({ control, name: 'addresses' })
  const errors = formState.errors.addresses
  return (
    <>
      {fields.map(({ id }, index) => (
        <fieldset key={id} className="mb-4 rounded-md border border-line p-3">
          <legend className="px-1 font-medium">{t('Address {number}', { number: index + 1 })}</legend>
          <NetworkField
            code={code}
            error={errors?.[index]?.network?.message}
            {...register(`addresses.${index}.network`)}
          />
          <TextField
            label={t('Address')}
            autoComplete="off"
            spellCheck={false}
            error={errors?.[index]?.address?.message}
            {...register(`addresses.${index}.address`)}
          />
          <TextField
            label={t('Label')}
            hint={t('Such as "Invoices" or "Cold wallet".')}
            error={errors?.[index]?.label?.message}
            {...register(`addresses.${index}.label`)}
          />
          <Button look="quiet" icon={<Trash2 size={16} aria-hidden />} onClick={() => remove(index)}>
            {t('Leave this address out')}
          </Button>
        </fieldset>
      ))}
      <Button
        className="mb-4"
        icon={<Plus size={16} aria-hidden />}
        onClick={() => append({ network, address: '', label: '' })}
      >
        {t('One more address')}
      </Button>
      <br />
    </>
  )
}
