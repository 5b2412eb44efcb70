import type { Transfer } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/page.tsx'

/** The result of the order. */
export function Ordered({ code, transfer, again }: { code: string; transfer: Transfer; again: () => void }) {
  const heading = useRef<HTMLParagraphElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const waits = transfer.status === 'awaiting_approval'
  return (
    <Card>
      <p ref={heading} tabIndex={-1} role="status" className="mb-3 text-lg font-semibold outline-none">
        {waits ? t('Ordered. It waits for votes.') : t('Ordered. It is on its way.')}
      </p>
      <Facts
        facts={[
          [t('Amount'), <Amount key="amount" decimal={transfer.amountDecimal} unit={transfer.assetSymbol} />],
          [t('To'), <Address key="to" address={transfer.toAddress} name={transfer.counterparty?.name ?? null} />],
          [
            t('State'),
            <Badge key="state" tone="waiting">
              {waits ? t('Waits for votes') : t('On its way')}
            </Badge>,
          ],
        ]}
      />
      <div className="mt-4 flex flex-wrap gap-2">
        <Link to={`/v/${code}/transfers/${transfer.id}` as '/'} className={buttonClass('primary')}>
          {t('Follow the transfer')}
        </Link>
        <Button onClick={again}>{t('Send another')}</Button>
      </div>
    </Card>
  )
}
