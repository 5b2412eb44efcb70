import type { SimulationOrder } from '@strongroom/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { parseAmount } from '../../lib/amounts.ts'
import { vaultOf } from '../../lib/api.ts'
import { fieldErrors } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { useIsAdmin } from '../people/queries.ts'
import type { Vocabulary } from './queries.ts'
import { SimulationResult } from './simulation-result.tsx'

type TryOrderProps = {
  code: string
  vocabulary: Vocabulary
  nameOf: (id: string, code: string) => string
  /** Policies that are not saved and decide together with the saved policies. */
  draft?: SimulationOrder['draft']
  /** The token that the form starts with. */
  tokenFirst?: string | undefined
}

/** Simulates the decision on a transfer. Nothing is ordered. */
export function TryOrder({ code, vocabulary, nameOf, draft, tokenFirst }: TryOrderProps) {
  const isAdmin = useIsAdmin(code)
  const { data: session } = useQuery(sessionQuery)
  const { choices } = vocabulary
  const [order, setOrder] = useState({
    initiatorId: '',
    fromAddressId: '',
    toAddress: '',
    token: tokenFirst ?? '',
    amount: '',
  })
  const set = (change: Partial<typeof order>) => setOrder({ ...order, ...change })
  const initiatorId = order.initiatorId === '' ? (session?.user.id ?? '') : order.initiatorId
  const from = order.fromAddressId === '' ? (choices.address[0]?.id ?? '') : order.fromAddressId
  const token = order.token === '' ? (choices.token[0]?.id ?? '') : order.token
  const simulation = useMutation({
    mutationFn: () =>
      vaultOf(code).policies.simulate({
        actionType: 'transfer',
        ...(isAdmin ? { initiatorId } : {}),
        ...(draft === undefined ? {} : { draft }),
        payload: {
          ...{ fromAddressId: from, toAddress: order.toAddress.trim(), token },
          amount: parseAmount(order.amount, 18) ?? order.amount,
        },
      }),
  })
  const errors = fieldErrors(simulation.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    simulation.mutate()
  }
  const unplaced = simulation.isError && ![...errors.keys()].some((field) => placed.includes(field))
  if (choices.address.length === 0) return <p className="text-quiet">{t('There is no address to pay from yet.')}</p>
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <form onSubmit={submit}>
        {isAdmin && (
          <SelectField
            label={t('Who orders')}
            value={initiatorId}
            onChange={({ target }) => set({ initiatorId: target.value })}
          >
            {choices.member.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        )}
        <SelectField
          label={t('From')}
          value={from}
          error={errors.get('payload.fromAddressId')}
          onChange={({ target }) => set({ fromAddressId: target.value })}
        >
          {choices.address.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t('To')}
          hint={t('The address of the recipient on the chain.')}
          value={order.toAddress}
          required
          spellCheck={false}
          error={errors.get('payload.toAddress')}
          onChange={({ target }) => set({ toAddress: target.value })}
        />
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label={t('Amount')}
            inputMode="decimal"
            value={order.amount}
            required
            error={errors.get('payload.amount')}
            onChange={({ target }) => set({ amount: target.value })}
          />
          <SelectField
            label={t('Token')}
            value={token}
            error={errors.get('payload.token')}
            onChange={({ target }) => set({ token: target.value })}
          >
            {choices.token.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        </div>
        <Button type="submit" busy={simulation.isPending}>
          {t('Try this order')}
        </Button>
      </form>
      <div>
        {unplaced && <Failed error={simulation.error} retry={() => simulation.mutate()} />}
        {simulation.data !== undefined && <SimulationResult result={simulation.data} {...{ vocabulary, nameOf }} />}
        {simulation.isIdle && <p className="text-quiet">{t('The answer appears here. Nothing is ordered.')}</p>}
      </div>
    </div>
  )
}

const placed = ['payload.fromAddressId', 'payload.toAddress', 'payload.amount', 'payload.token']
