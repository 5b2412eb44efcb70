import type { TransferOrder, TransferPreview } from '@strongroom/sdk'
import type { OrderDescription } from '@strongroom/sdk/signing'
import { t } from '../../lib/language.ts'
import type { Shown } from '../../lib/sign-votes.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { SignedFacts, SignedQuantity } from '../../ui/signed-order.tsx'
import type { Sending } from './send-order.ts'

export type Confirmed = {
  order: TransferOrder
  name: string | null
  symbol: string
  preview: TransferPreview
  /** The description of the signed document, decoded from it; null where orders are not signed. */
  signed: Shown<OrderDescription> | null
}

type Props = Confirmed & {
  open: boolean
  onClose: () => void
  sending: Sending
  hasGivenUp: boolean
  send: () => void
}

/** The whole order once more, before it is placed. */
export function ConfirmSheet({
  open,
  onClose,
  order,
  name,
  symbol,
  preview,
  signed,
  sending,
  hasGivenUp,
  send,
}: Props) {
  const isBusy = sending.phase === 'sending' || (sending.phase === 'finding out' && !hasGivenUp)
  return (
    <Sheet title={t('Send this?')} open={open} onClose={onClose}>
      <p className="mb-3 text-2xl font-semibold">
        {signed === null ? (
          <Amount decimal={order.amount} unit={symbol} />
        ) : (
          <SignedQuantity quantity={signed.description.amount} />
        )}
        {preview.usdValue !== null && (
          <Usd value={preview.usdValue} className="ml-3 text-base font-normal text-quiet" />
        )}
      </p>
      {signed !== null && <SignedFacts shown={signed.description} names={{ recipient: name }} />}
      <Facts
        facts={[
          [t('To'), signed === null ? <Address key="to" address={order.toAddress} name={name} /> : null],
          [t('Purpose'), order.metadata?.paymentPurpose],
          [
            t('Then'),
            preview.decision.effect === 'allow'
              ? t('it goes out at once and cannot be taken back')
              : t('it waits for votes'),
          ],
        ]}
      />
      {signed !== null && <p>{t('You sign exactly this with a passkey.')}</p>}
      {sending.phase === 'finding out' && <FindingOut hasGivenUp={hasGivenUp} />}
      <div className="mt-5 flex flex-wrap gap-2">
        <Button look="primary" busy={isBusy} onClick={send}>
          {sending.phase === 'finding out' ? t('Ask again') : t('Confirm')}
        </Button>
        {!isBusy && <Button onClick={onClose}>{t('Back')}</Button>}
      </div>
    </Sheet>
  )
}

/** Shown when the answer was lost. Nothing is ordered twice: the same order is sent again under the same key. */
function FindingOut({ hasGivenUp }: { hasGivenUp: boolean }) {
  return (
    <div role="status" className="mt-4 rounded-lg border border-warn bg-warn-soft p-3 text-warn">
      <p className="font-medium">
        {hasGivenUp ? t('It is not known whether this was ordered') : t('We are finding out')}
      </p>
      <p>
        {hasGivenUp
          ? t(
              'The service does not answer. Keep this page open and ask again, or look into the activity before you order anew.',
            )
          : t(
              'The answer was lost on its way. The same order is sent again under the same key, so that it is placed once.',
            )}
      </p>
    </div>
  )
}
