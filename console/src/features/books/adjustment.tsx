import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { parseAmount } from '../../lib/amounts.ts'
import { vaultOf } from '../../lib/api.ts'
import { errorsOfFields, newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { addressOptions, tokenOptions } from '../reports/queries.ts'
import { AccountFields } from './entries.tsx'
import type { BooksSearch } from './parts.ts'

type Draft = { addressId: string; tokenId: string; sign: '' | '-'; amount: string; reason: string }
const nothing: Draft = { addressId: '', tokenId: '', sign: '', amount: '', reason: '' }

/**
 * Corrects a balance that no event explains. An adjustment moves nothing on the chain, and stays in the books with its
 * reason.
 */
export function AdjustmentForm({ code, change }: { code: string; change: (changed: BooksSearch) => void }) {
  const [draft, setDraft] = useState(nothing)
  const [key, setKey] = useState(() => newIdempotencyKey())
  const [confirming, setConfirming] = useState(false)
  const client = useQueryClient()
  const decimal = parseAmount(draft.amount, 36)
  const post = useMutation({
    mutationFn: () => {
      const { addressId, tokenId, sign, reason } = draft
      const body = { addressId, tokenId, amount: `${sign}${decimal}`, reason }
      return vaultOf(code).adjustments.create(body, { idempotencyKey: key })
    },
    onSuccess: ({ value, pendingApproval }) => {
      setKey(newIdempotencyKey())
      if (pendingApproval !== null) return
      void client.invalidateQueries({ queryKey: ['books', code] })
      announce(t('The adjustment is in the books.'))
      setDraft(nothing)
      change({ part: 'entries', addressId: value.addressId, tokenId: value.tokenId })
    },
    onError: () => setConfirming(false),
  })
  const waiting = post.data?.pendingApproval ?? null
  const errors = errorsOfFields(post.error, ['addressId', 'tokenId', 'amount', 'reason'])
  const set = (changed: Partial<Draft>) => {
    post.reset()
    setDraft({ ...draft, ...changed })
  }
  const isWhole = draft.addressId !== '' && draft.tokenId !== '' && decimal !== null && draft.reason.trim() !== ''
  return (
    <Card title={t('Adjust a balance')}>
      <p className="mb-4 text-quiet">
        {t(
          'For opening balances and for corrections that no event explains. Nothing moves on the chain. An adjustment is never deleted: correct a wrong adjustment with another adjustment.',
        )}
      </p>
      {waiting !== null && <WaitsForApproval code={code} requestId={waiting.id} />}
      <form
        className="max-w-xl"
        onSubmit={(event) => {
          event.preventDefault()
          if (isWhole) setConfirming(true)
        }}
      >
        <AccountFields code={code} addressId={draft.addressId} tokenId={draft.tokenId} change={set} />
        <div className="grid gap-x-4 sm:grid-cols-2">
          <SelectField
            label={t('Direction')}
            value={draft.sign}
            onChange={({ target }) => set({ sign: target.value as Draft['sign'] })}
          >
            <option value="">{t('Increase')}</option>
            <option value="-">{t('Reduce')}</option>
          </SelectField>
          <TextField
            label={t('Amount')}
            inputMode="decimal"
            value={draft.amount}
            error={errors.amount ?? (draft.amount !== '' && decimal === null ? t('This is not an amount.') : null)}
            onChange={({ target }) => set({ amount: target.value })}
          />
        </div>
        <TextArea
          label={t('Reason')}
          hint={t('The reason stays in the books and in the audit log.')}
          value={draft.reason}
          error={errors.reason ?? null}
          onChange={({ target }) => set({ reason: target.value })}
        />
        {post.isError && Object.keys(errors).length === 0 && <Failed error={post.error} retry={() => post.mutate()} />}
        <Button type="submit" look="primary" disabledBecause={isWhole ? null : t('Fill in every field first.')}>
          {t('Review')}
        </Button>
      </form>
      <Sheet
        title={t('Adjust this balance?')}
        open={confirming && !post.isSuccess}
        onClose={() => setConfirming(false)}
      >
        <Review code={code} draft={draft} decimal={`${draft.sign}${decimal}`} />
        <Button look="primary" className="mt-4" busy={post.isPending} onClick={() => post.mutate()}>
          {t('Adjust')}
        </Button>
      </Sheet>
    </Card>
  )
}

function Review({ code, draft, decimal }: { code: string; draft: Draft; decimal: string }) {
  const { data: addresses } = useQuery(addressOptions(code))
  const { data: tokens } = useQuery(tokenOptions)
  const label = (options: typeof tokens, value: string) =>
    options?.find((option) => option.value === value)?.label ?? value
  return (
    <Facts
      facts={[
        [t('Address'), label(addresses, draft.addressId)],
        [t('Amount'), <Amount key="a" decimal={decimal} unit={label(tokens, draft.tokenId)} />],
        [t('Reason'), draft.reason],
      ]}
    />
  )
}
