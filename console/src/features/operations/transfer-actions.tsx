import type { Transfer } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { saveBlob } from '../../lib/save-file.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { refreshOperation } from './queries.ts'

/** Downloads the evidence as a file, which can be checked without the service. */
export function EvidenceButton({ code, id }: { code: string; id: string }) {
  const download = useMutation({
    mutationFn: () => vaultOf(code).transfers.getEvidence(id),
    onSuccess: (evidence) => {
      const file = new Blob([JSON.stringify(evidence, null, 2)], { type: 'application/json' })
      saveBlob(file, `evidence-${id}.json`)
    },
  })
  return (
    <div>
      <Button icon={<Download size={16} aria-hidden />} busy={download.isPending} onClick={() => download.mutate()}>
        {t('Evidence')}
      </Button>
      <Problem error={download.error} />
    </div>
  )
}

/** Orders of protected vaults are decoded from the signed document. */
const SignedCancel = lazy(() => import('../../ui/signed-cancel.tsx'))

/** Cancels an order that still waits for votes. */
export function CancelTransfer({ code, transfer }: { code: string; transfer: Transfer }) {
  const [open, setOpen] = useState(false)
  const client = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => vaultOf(code).transfers.cancel(transfer.id),
    onSuccess: () => done(),
  })
  const done = async () => {
    announce(t('The transfer was cancelled. Its amount is available again.'))
    setOpen(false)
    await refreshOperation(client, { code, type: 'transfer', id: transfer.id })
  }
  const { id, payloadHash } = transfer
  const isSigned = transfer.payload.expiresAt !== undefined
  const keep = <Button onClick={() => setOpen(false)}>{t('Keep it')}</Button>
  const values = { amount: formatAmount(transfer.amountDecimal), unit: transfer.assetSymbol }
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        {t('Cancel the transfer')}
      </Button>
      <Sheet
        // For a signed order, only the decoded amount is shown.
        title={isSigned ? t('Cancel the transfer') : t('Cancel the transfer of {amount} {unit}?', values)}
        open={open}
        onClose={() => setOpen(false)}
      >
        <p className="mb-4">
          {t('Votes that were given are lost, and the amount becomes available again. This cannot be taken back.')}
        </p>
        {!isSigned ? (
          <>
            <Problem error={cancel.error} />
            <div className="flex flex-wrap gap-2">
              <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
                {t('Cancel the transfer')}
              </Button>
              {keep}
            </div>
          </>
        ) : (
          <Suspense>
            <SignedCancel
              code={code}
              cancelled={{ kind: 'transfer', id, payloadHash }}
              verb={t('Cancel the transfer')}
              onDone={done}
            >
              {keep}
            </SignedCancel>
          </Suspense>
        )}
      </Sheet>
    </>
  )
}
