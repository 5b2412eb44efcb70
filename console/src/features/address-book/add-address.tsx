import type { Counterparty } from '@strongroom/sdk'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { faultsOf, showFaults } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { NetworkField } from './network-field.tsx'
import { useBookChange } from './write.ts'

type Values = { network: string; address: string; label: string }
type Props = { code: string; counterparty: Counterparty; done: () => void }

export function AddAddress({ code, counterparty, done }: Props) {
  const { register, handleSubmit, setError, formState } = useForm<Values>()
  const add = useBookChange(
    code,
    ({ network, address, label }: Values, options) =>
      vaultOf(code).counterparties.addAddress(
        counterparty.id,
        { network, address: address.trim(), label: label.trim() || null },
        options,
      ),
    {
      done: t('The address is added'),
      after: done,
      onError: (error) => showFaults<Values>(error, ['network', 'address', 'label'], setError),
    },
  )
  if (add.waiting !== null) return <WaitsForApproval code={code} requestId={add.waiting.id} />
  const { errors } = formState
  return (
    <form onSubmit={handleSubmit((values) => add.mutate(values))} noValidate>
      {faultsOf(add.error).length === 0 && <Problem error={add.error} />}
      <NetworkField code={code} error={errors.network?.message} {...register('network')} />
      <TextField
        label={t('Address')}
        autoComplete="off"
        spellCheck={false}
        error={errors.address?.message}
        {...register('address', { required: t('Enter an address.') })}
      />
      <TextField label={t('Label')} error={errors.label?.message} {...register('label')} />
      <Button type="submit" look="primary" busy={add.isPending}>
        {t('Add the address')}
      </Button>
    </form>
  )
}
