import { fromRaw, type Token, toRaw } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { formatAmount, parseAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { statusChoices } from '../../ui/operation-status.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { type ActivityFilter, filterOf, withChanges } from './filter.ts'
import { counterpartyChoicesQuery, membersQuery, tokensQuery } from './queries.ts'

type FilterSheetProps = {
  code: string
  filter: ActivityFilter
  open: boolean
  onClose: () => void
  onFilter: (filter: ActivityFilter) => void
}

/** All filters. On a phone, they can be chosen in this sheet only. */
export function FilterSheet({ open, onClose, ...rest }: FilterSheetProps) {
  return (
    <Sheet title={t('Filters')} open={open} onClose={onClose} wide>
      <FilterForm {...rest} onClose={onClose} />
    </Sheet>
  )
}

/** Amounts are typed in units of the token. */
type Values = Omit<ActivityFilter, 'minimumAmount' | 'maximumAmount'> & { minimum?: string; maximum?: string }

function FilterForm({ code, filter, onClose, onFilter }: Omit<FilterSheetProps, 'open'>) {
  const { data: tokens = [] } = useQuery(tokensQuery)
  const { data: counterparties = [] } = useQuery(counterpartyChoicesQuery(code))
  const { data: members = [] } = useQuery(membersQuery(code))
  const token = tokens.find(({ id }) => id === filter.tokenId)
  const { register, handleSubmit, watch, setError, formState } = useForm<Values>({
    defaultValues: {
      ...filter,
      minimum: typed(filter.minimumAmount, token),
      maximum: typed(filter.maximumAmount, token),
    },
  })
  const chosen = tokens.find(({ id }) => id === watch('tokenId'))
  const submit = handleSubmit(({ minimum = '', maximum = '', ...values }) => {
    const bounds = { minimum: rawOf(minimum, chosen), maximum: rawOf(maximum, chosen) }
    for (const name of ['minimum', 'maximum'] as const) {
      if (bounds[name] === null) setError(name, { message: t('This is not a valid amount of the token.') })
    }
    if (bounds.minimum === null || bounds.maximum === null) return
    const amounts = { minimumAmount: bounds.minimum, maximumAmount: bounds.maximum }
    onFilter(filterOf(withChanges(filter, { ...values, ...amounts })))
    onClose()
  })
  const amountHint = chosen === undefined ? { hint: t('Choose a token first.'), disabled: true } : {}
  return (
    <form onSubmit={submit}>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField label={t('From')} type="date" {...register('from')} />
        <TextField label={t('Until')} type="date" {...register('to')} />
        <Choice label={t('Direction')} anyLabel={t('In and out')} choices={directions()} {...register('direction')} />
        <Choice
          label={t('Status')}
          anyLabel={t('Every status')}
          choices={statusesOf(filter)}
          {...register('statuses')}
        />
        <Choice label={t('Kind')} anyLabel={t('Every kind')} choices={kinds()} {...register('flowType')} />
        <Choice
          label={t('Counterparty')}
          anyLabel={t('Every counterparty')}
          choices={counterparties.map(({ id, name }) => [id, name])}
          {...register('counterpartyId')}
        />
        <Choice
          label={t('Token')}
          anyLabel={t('Every token')}
          choices={tokens.map(({ id, symbol, network }) => [id, `${symbol} · ${network}`])}
          {...register('tokenId')}
        />
        <Choice
          label={t('Ordered by')}
          anyLabel={t('Everybody')}
          choices={members.map(({ userId, name }) => [userId, name])}
          {...register('initiatorId')}
        />
        <TextField
          label={t('Amount from')}
          inputMode="decimal"
          error={formState.errors.minimum?.message}
          {...amountHint}
          {...register('minimum')}
        />
        <TextField
          label={t('Amount up to')}
          inputMode="decimal"
          error={formState.errors.maximum?.message}
          {...amountHint}
          {...register('maximum')}
        />
      </div>
      <Button look="primary" type="submit">
        {t('Apply')}
      </Button>
    </form>
  )
}

type ChoiceProps = { label: string; anyLabel: string; choices: readonly (readonly [string, string])[] } & ReturnType<
  ReturnType<typeof useForm<Values>>['register']
>

function Choice({ label, anyLabel, choices, ...rest }: ChoiceProps) {
  return (
    <SelectField label={label} {...rest}>
      <option value="">{anyLabel}</option>
      {choices.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </SelectField>
  )
}

function directions(): [string, string][] {
  return [
    ['in', t('Received')],
    ['out', t('Sent')],
  ]
}

function kinds(): [string, string][] {
  return [
    ['external', t('With others')],
    ['internal', t('Within the vault')],
  ]
}

/** Returns the statuses to choose from. Several statuses of a link are one choice, which stays until another is made. */
function statusesOf({ statuses }: ActivityFilter): [string, string][] {
  return statuses?.includes(',') ? [[statuses, t('Several')], ...statusChoices()] : statusChoices()
}

function typed(raw: string | undefined, token: Token | undefined): string {
  return raw === undefined || token === undefined || !/^\d+$/.test(raw) ? '' : formatAmount(fromRaw(raw, token))
}

/** Returns '' for no bound, and null for a text that is not an amount. */
function rawOf(text: string, token: Token | undefined): string | null {
  if (text.trim() === '' || token === undefined) return ''
  const decimal = parseAmount(text, token.decimals)
  return decimal === null ? null : toRaw(decimal, token).toString()
}
