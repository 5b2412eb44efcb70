import type { PayoutOrder, PayoutPreview } from '@strongroom/sdk'
import { describePayout, type OrderDescription, type PayoutDescription } from '@strongroom/sdk/signing'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { messageOf } from '../../lib/error-words.ts'
import { isOutcomeUnknown } from '../../lib/forms.ts'
import { said, t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { nameOf } from '../../lib/session.ts'
import type { Entered, Shown } from '../../lib/sign-votes.ts'
import { signingAuthorityQuery } from '../../lib/signing-authority.ts'
import { Address } from '../../ui/address.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SignedHead, SignedQuantity, SignedRow, SignedSums } from '../../ui/signed-order.tsx'
import { keyOf } from './payout-rows.ts'

/** A payout as a person entered it. `entered` are its rows without the values that the service adds. */
type Ordered = { order: PayoutOrder; entered: Entered[]; onRefused: (error: unknown) => void }

/** Asks for the decision on a payout, and orders it: signed, in a vault that requires a signature. */
export function usePayoutOrder(code: string, { order, entered, onRefused }: Ordered) {
  const navigate = useNavigate()
  const signed = useRef<PayoutOrder | null>(null)
  const refuse = (error: unknown) => {
    if (!isOutcomeUnknown(error)) signed.current = null
    onRefused(error)
  }
  const preview = useMutation({ mutationFn: () => vaultOf(code).payouts.preview(order), onError: refuse })
  const toSign = preview.data?.toSign
  const { shown, fault } = useSigned(code, toSign)
  const signing = toSign === undefined || shown === null ? null : { toSign, shown, entered }
  const create = useMutation({
    mutationFn: async () => {
      // Signed only once: a repetition under the same key must send the same body.
      signed.current ??= await signedPayout(code, order, signing)
      return vaultOf(code).payouts.create(signed.current, { idempotencyKey: await keyOf(signed.current) })
    },
    onSuccess: ({ id }) => {
      for (const key of [['payouts', code], ['history', code], ['addresses', code], ['inbox']])
        void queryClient.invalidateQueries({ queryKey: key })
      void navigate({ to: `/v/${code}/payouts/${id}` as '/' })
    },
    onError: refuse,
  })
  const reset = () => {
    preview.reset()
    signed.current = null
  }
  const unread = toSign !== undefined && shown === null ? (fault ?? t('The order is being read.')) : null
  const notYet = whyNot(preview.data) ?? unread
  return { preview, create, shown: shown?.description ?? null, fault, notYet, reset }
}

type PayoutOrdering = ReturnType<typeof usePayoutOrder>

/** The two buttons under a payout that is shown whole. */
export function ConfirmOrder({ ordering: { create, notYet }, back }: { ordering: PayoutOrdering; back: () => void }) {
  const isUnknown = isOutcomeUnknown(create.error)
  return (
    <>
      {isUnknown && (
        <p className="mb-3 text-warn">{t('Ask again: the same payout is paid once, however often it is sent.')}</p>
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="primary" busy={create.isPending} disabledBecause={notYet} onClick={() => create.mutate()}>
          {isUnknown ? t('Ask again') : t('Confirm')}
        </Button>
        {!create.isPending && <Button onClick={back}>{t('Back')}</Button>}
      </div>
    </>
  )
}

/** The document of the payout that is signed, with the rows as the person entered them. */
type ToSign = { toSign: NonNullable<PayoutPreview['toSign']>; entered: Entered[]; shown: Shown<PayoutDescription> }

/** Returns the payout with the signature of its initiator, in a vault that requires a signature. */
async function signedPayout(code: string, order: PayoutOrder, signing: ToSign | null): Promise<PayoutOrder> {
  if (signing === null) return order
  const { signEnteredRows } = await import('../../lib/sign-votes.ts')
  return signEnteredRows(code, order, signing.entered, signing.toSign, signing.shown)
}

/** Decodes the signed part of a preview with the help of the authority. */
function useSigned(code: string, toSign: PayoutPreview['toSign']) {
  const { data: authority, error } = useQuery({ ...signingAuthorityQuery(code), enabled: toSign !== undefined })
  return useMemo((): { shown: Shown<PayoutDescription> | null; fault: string | null } => {
    if (toSign === undefined || authority === undefined)
      return { shown: null, fault: error === null ? null : messageOf(error) }
    try {
      return {
        shown: { description: describePayout(toSign.payoutId, toSign.orders, authority), authority },
        fault: null,
      }
    } catch (fault) {
      return { shown: null, fault: messageOf(fault) }
    }
  }, [toSign, authority, error])
}

/** Everything that the initiator signs, decoded from the signed document. */
export function SignedPayout({ shown }: { shown: PayoutDescription }) {
  const columns = useMemo(() => signedColumns(shown), [shown])
  return (
    <div className="mb-3 rounded-md border border-line p-3">
      <p className="font-medium">{t('You sign exactly this with a passkey.')}</p>
      <SignedSums shown={shown} />
      <SignedHead shown={shown} />
      <DataTable caption={t('What is signed')} columns={columns} rows={shown.rows} rowKey={keyOfSigned} />
    </div>
  )
}

const keyOfSigned = ({ terms }: OrderDescription) => terms.transferId

function signedColumns(shown: PayoutDescription): Column<OrderDescription>[] {
  return [
    { id: 'to', header: t('To'), cell: ({ recipient }) => <Address address={recipient} /> },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: ({ amount }) => <SignedQuantity quantity={amount} />,
    },
    { id: 'signed', header: t('Also signed'), cell: (row) => <SignedRow row={row} shown={shown} /> },
  ]
}

function whyNot(preview: PayoutPreview | undefined): string | null {
  if (preview === undefined) return t('Check the policies first.')
  const [problem] = preview.problems
  return problem === undefined ? null : said(problem.message, problem.code)
}

/** The decision of the policies about the payout. */
export function Decision({ preview: { decision, problems, row } }: { preview: PayoutPreview }) {
  const waits = decision.effect === 'approval'
  const refusedText = decision.blockReason ?? t('Refused: no policy permits it')
  return (
    <div role="status" className="mb-3 rounded-md border border-line p-3">
      <p className="font-semibold">
        {decision.effect === 'allow' ? t('Goes out at once') : waits ? t('Waits for votes') : refusedText}
      </p>
      {decision.effect !== 'allow' && <p className="text-quiet">{t('Row {row} decides.', { row })}</p>}
      {waits &&
        decision.requirements.map(({ policyId, policyCode, threshold, approvers }) => (
          <p key={policyId}>
            {t('Waits for {threshold} of {names}', { threshold, names: approvers.slice(0, 5).map(nameOf).join(', ') })}{' '}
            <span className="code text-quiet">{policyCode}</span>
          </p>
        ))}
      {problems.map(({ code, row: number, message }) => (
        <p key={`${code} ${number}`} className="text-bad">
          {number === null
            ? said(message, code)
            : t('Row {row}: {message}', { row: number, message: said(message, code) })}
        </p>
      ))}
    </div>
  )
}
