import type { TransferOrder, TransferPreview } from '@strongroom/sdk'
import { describeOrder, type OrderDescription } from '@strongroom/sdk/signing'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useDebounced } from '../../lib/debounced.ts'
import { messageOf } from '../../lib/error-words.ts'
import { faultsOf } from '../../lib/forms.ts'
import { said, t } from '../../lib/language.ts'
import { useRecipientCheck } from '../../lib/recipient-check.ts'
import type { Shown } from '../../lib/sign-votes.ts'
import { signingAuthorityQuery } from '../../lib/signing-authority.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { AmountField } from './amount-field.tsx'
import { type Confirmed, ConfirmSheet } from './confirm-sheet.tsx'
import { amountOf, balanceOf, type Draft, emptyDraft, enteredOf, isTypedOut, orderOf, pastedAddress } from './draft.ts'
import { FeeFields, useFeeCoin } from './fee-fields.tsx'
import { LookAlike } from './look-alike.tsx'
import { Ordered } from './ordered.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { orderCategoriesQuery, previewQuery } from './queries.ts'
import { RecipientField } from './recipient-field.tsx'
import { type ToSign, useSendOrder } from './send-order.ts'
import { SourceField } from './source-field.tsx'

/** Orders a transfer. The outcome under the policies stands beside the form. */
export function SendForm({ code, start }: { code: string; start: Partial<Draft> }) {
  const [draft, setDraft] = useState<Draft>({ ...emptyDraft, ...start })
  const [confirming, confirm] = useState(false)
  const [confirmed, keep] = useState<Confirming | null>(null)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const pasted = pastedAddress(draft)
  const recipient = pasted === null || draft.source === null ? null : { network: draft.source.network, address: pasted }
  const { find, error: unchecked } = useRecipientCheck(code, recipient === null ? [] : [recipient])
  const check = recipient === null ? null : find(recipient)
  const coin = useFeeCoin(draft)
  const order = orderOf(draft, check, coin)
  const settled = useSettledOrder(order)
  const { data: preview, error: refusal } = useQuery(previewQuery(code, settled))
  const { sending, send, startAnew, hasGivenUp } = useSendOrder(code)
  const { signed, fault } = useSigned(code, preview?.order)
  const resembles = pasted !== null && check !== null && check.lookAlikes.length > 0
  const error = sending.phase === 'editing' ? sending.error : null
  useEffect(() => {
    if (error !== null) confirm(false)
  }, [error])

  if (sending.phase === 'ordered') {
    const again = () => {
      setDraft({ ...emptyDraft, source: draft.source, sourceText: draft.sourceText })
      confirm(false)
      startAnew()
    }
    return <Ordered code={code} transfer={sending.transfer} again={again} />
  }
  const isStale = order !== null && JSON.stringify(order) !== JSON.stringify(settled)
  const blocking = preview?.problems.find(({ blocks }) => blocks)
  const notNow =
    whatIsMissing(draft, order) ??
    (pasted !== null && check === null
      ? unchecked === null
        ? t('The address is being compared with the known ones.')
        : t('The address could not be compared with the known ones.')
      : null) ??
    (resembles && !isTypedOut(draft) ? t('Type the address out first, because it resembles another one.') : null) ??
    (refusal !== null && !isStale ? t('The policies could not be checked.') : null) ??
    (isStale || preview === undefined ? t('The policies are being checked.') : null) ??
    (preview?.order !== undefined && signed === null ? (fault ?? t('The order is being read.')) : null) ??
    (blocking && said(blocking.message, blocking.code))
  const found = [...faultsOf(isStale ? null : refusal), ...faultsOf(error)]
  const faults = Object.fromEntries(found.map(({ field, message }) => [field, message]))
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[1fr_22rem]">
      <form
        className="rounded-lg border border-line bg-paper p-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (notNow !== undefined || order === null || preview === undefined) return
          const name = draft.recipient?.name ?? check?.known?.name ?? null
          const toSign = toSignOf(draft, order, preview, signed)
          keep({ order, name, symbol: symbolOf(draft), preview, signed, toSign })
          confirm(true)
        }}
      >
        {error !== null && faultsOf(error).length === 0 && <Problem error={error} />}
        <SourceField code={code} draft={draft} change={change} />
        <RecipientField code={code} draft={draft} check={check} change={change} error={faults.toAddress ?? null} />
        {resembles && (
          <LookAlike
            address={pasted}
            known={check.lookAlikes}
            typedOut={draft.typedOut}
            isTypedOut={isTypedOut(draft)}
            onTyped={(typedOut) => change({ typedOut })}
          />
        )}
        <AmountField code={code} draft={draft} check={check} change={change} error={faults.amount ?? null} />
        <Purpose code={code} draft={draft} change={change} faults={faults} />
        <FeeFields draft={draft} coin={coin} change={change} error={faults.maxFee ?? null} />
        <Button type="submit" look="primary" disabledBecause={notNow}>
          {t('Send …')}
        </Button>
        {notNow !== undefined && order !== null && <p className="mt-2 text-quiet">{notNow}</p>}
      </form>
      <PreviewPanel
        code={code}
        order={order === null ? null : settled}
        isStale={isStale}
        symbol={symbolOf(draft)}
        network={draft.source?.network}
      />
      {confirmed !== null && (
        <ConfirmSheet
          {...confirmed}
          open={confirming}
          onClose={() => confirm(false)}
          sending={sending}
          hasGivenUp={hasGivenUp}
          send={() => void send(confirmed.order, confirmed.toSign)}
        />
      )}
    </div>
  )
}

/**
 * The content of the confirmation sheet and of the order that is sent. Both stay as they were when the sheet opened,
 * whatever the service answers later.
 */
type Confirming = Confirmed & { toSign: ToSign | null }

/**
 * Decodes the signed document of the order with the help of the authority. Null where orders are not signed, or as long
 * as the document cannot be read.
 */
function useSigned(code: string, order: TransferPreview['order']) {
  const { data: authority, error } = useQuery({ ...signingAuthorityQuery(code), enabled: order !== undefined })
  return useMemo((): { signed: Shown<OrderDescription> | null; fault: string | null } => {
    if (order === undefined || authority === undefined)
      return { signed: null, fault: error === null ? null : messageOf(error) }
    try {
      return { signed: { description: describeOrder(order, authority), authority }, fault: null }
    } catch (fault) {
      return { signed: null, fault: messageOf(fault) }
    }
  }, [order, authority, error])
}

function toSignOf(
  draft: Draft,
  order: TransferOrder,
  preview: TransferPreview,
  shown: Shown<OrderDescription> | null,
): ToSign | null {
  const entered = enteredOf(draft, order)
  if (entered === null || preview.order === undefined || shown === null) return null
  return { entered, order: preview.order, shown }
}

function symbolOf(draft: Draft): string {
  return balanceOf(draft)?.symbol ?? ''
}

/** Returns the order once it has not changed for a moment, and the same object as long as its content stays the same. */
function useSettledOrder(order: TransferOrder | null): TransferOrder | null {
  const text = useDebounced(order === null ? '' : JSON.stringify(order))
  return text === '' ? null : (JSON.parse(text) as TransferOrder)
}

function whatIsMissing(draft: Draft, order: TransferOrder | null): string | null {
  if (order !== null) return null
  if (draft.source === null) return t('Choose first which address pays.')
  if (draft.recipient === null && pastedAddress(draft) === null) return t('Say who is paid.')
  const amount = amountOf(draft)
  if (amount === null || !/[1-9]/.test(amount)) return t('Enter an amount above zero.')
  return t('Enter the highest fee as an amount, or leave it out.')
}

type PurposeProps = {
  code: string
  draft: Draft
  change: (part: Partial<Draft>) => void
  faults: Record<string, string>
}

function Purpose({ code, draft, change, faults }: PurposeProps) {
  const categories = useQuery(orderCategoriesQuery(code)).data ?? []
  return (
    <>
      <TextField
        label={t('Purpose')}
        value={draft.purpose}
        maxLength={500}
        error={faults['metadata.paymentPurpose']}
        hint={t('Such as an invoice number. Those who vote see it; it is not sent to the chain.')}
        onChange={({ target }) => change({ purpose: target.value })}
      />
      <TextArea
        label={t('Note')}
        rows={2}
        value={draft.note}
        error={faults['metadata.note']}
        onChange={({ target }) => change({ note: target.value })}
      />
      {categories.length > 0 && (
        <SelectField
          label={t('Category')}
          value={draft.category}
          error={faults['metadata.category']}
          onChange={({ target }) => change({ category: target.value })}
        >
          <option value="">{t('none')}</option>
          {categories.map(({ key, name, emoji }) => (
            <option key={key} value={key}>
              {emoji === null ? name : `${emoji} ${name}`}
            </option>
          ))}
        </SelectField>
      )}
    </>
  )
}
