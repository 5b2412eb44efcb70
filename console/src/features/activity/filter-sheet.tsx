import { useQuery } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { type ActivityFilter, filterOf } from './filter.ts'
import { counterpartyChoicesQuery } from './queries.ts'

type FilterSheetProps = {
  code: string
  filter: ActivityFilter
  open: boolean
  onClose: () => void
  onFilter: (filter: ActivityFilter) => void
}

/** The filters that are used less often. */
export function FilterSheet({ open, onClose, ...rest }: FilterSheetProps) {
  return (
    <Sheet title={t('Filters')} open={open} onClose={onClose}>
      <FilterForm {...rest} onClose={onClose} />
    </Sheet>
  )
}

function FilterForm({ code, filter, onClose, onFilter }: Omit<FilterSheetProps, 'open'>) {
  const { register, handleSubmit } = useForm<ActivityFilter>({ defaultValues: filter })
  const { data: counterparties = [] } = useQuery(counterpartyChoicesQuery(code))
  const submit = handleSubmit((values) => {
    onFilter(filterOf({ ...filter, ...values }))
    onClose()
  })
  return (
    <form onSubmit={submit}>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField label={t('From')} type="date" {...register('from')} />
        <TextField label={t('Until')} type="date" {...register('to')} />
        <SelectField label={t('Kind')} {...register('flowType')}>
          <option value="">{t('Every kind')}</option>
          <option value="external">{t('With others')}</option>
          <option value="internal">{t('Within the vault')}</option>
        </SelectField>
        <SelectField label={t('Counterparty')} {...register('counterpartyId')}>
          <option value="">{t('Every counterparty')}</option>
          {counterparties.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <TextField label={t('Purpose')} hint={t('Exactly as it was entered.')} {...register('paymentPurpose')} />
      <TextField label={t('Hash of the transaction')} {...register('txHash')} />
      <Button look="primary" type="submit">
        {t('Apply')}
      </Button>
    </form>
  )
}
