import type { ReplacementPreview, Transfer } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { said, t } from '../../lib/language.ts'
import { spendsOutputs, useNetwork } from '../../lib/networks.ts'
import { formatTimeInFull } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { refreshOperation } from './queries.ts'

type Way = 'speedUp' | 'cancelOnChain'
type Props = { code: string; transfer: Transfer }

/** The actions on a waiting transaction: speed it up with a higher fee, or cancel it on the chain. */
export function ReplaceTransaction({ code, transfer }: Props) {
  const [way, choose] = useState<Way | null>(null)
  return (
    <>
      <Button onClick={() => choose('speedUp')}>{t('Speed up')}</Button>
      <Button look="danger" onClick={() => choose('cancelOnChain')}>
        {t('Cancel on chain')}
      </Button>
      {way !== null && <ReplaceSheet code={code} transfer={transfer} way={way} onClose={() => choose(null)} />}
    </>
  )
}

function ReplaceSheet({ code, transfer, way, onClose }: Props & { way: Way; onClose: () => void }) {
  const isFaster = way === 'speedUp'
  const network = useNetwork(transfer.network)
  const query = useQuery({
    queryKey: ['transfer-replacement', code, transfer.id, transfer.txHash],
    queryFn: () => vaultOf(code).transfers.previewReplacement(transfer.id),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Sheet title={isFaster ? t('Speed this transfer up?') : t('Cancel this transfer on chain?')} open onClose={onClose}>
      <p className="mb-3">
        {isFaster
          ? spendsOutputs(network)
            ? t(
                'The payment is sent again with a higher fee, or a transaction of the sender to itself pays for both. It is paid once.',
              )
            : t('The same payment is sent again with a higher fee. It is paid once, whichever transaction is mined.')
          : t('A transaction that moves nothing takes its place. If the payment is mined after all, it counts.')}
      </p>
      <DetailState query={query}>
        {query.data !== undefined && (
          <Replace code={code} id={transfer.id} way={way} preview={query.data} onClose={onClose} />
        )}
      </DetailState>
    </Sheet>
  )
}

type ReplaceProps = { code: string; id: string; way: Way; preview: ReplacementPreview; onClose: () => void }

function Replace({ code, id, way, preview, onClose }: ReplaceProps) {
  const client = useQueryClient()
  const { maxFee, refusal, needsApproval } = preview[way]
  const isFaster = way === 'speedUp'
  const replace = useMutation({
    mutationFn: () => {
      // The fee that was shown is the highest fee that may be paid.
      const limit = maxFee === null || maxFee.amount === '0' ? {} : { maxFee: maxFee.amount }
      const order = { txHash: preview.txHash, ...limit }
      const { transfers } = vaultOf(code)
      return isFaster ? transfers.speedUp(id, order) : transfers.cancelOnChain(id, order)
    },
    onSuccess: async ({ pendingApproval }) => {
      if (pendingApproval !== null) return
      announce(isFaster ? t('The transfer was sent with a higher fee.') : t('The cancellation was sent.'))
      await refreshOperation(client, { code, type: 'transfer', id })
      onClose()
    },
  })
  const waiting = replace.data?.pendingApproval ?? null
  if (waiting !== null) return <WaitsForApproval code={code} requestId={waiting.id} />
  if (refusal !== null) return <p className="text-bad">{said(refusal)}</p>
  return (
    <>
      {maxFee !== null && (
        <p className="mb-4">
          {t('Costs at most')} <Amount decimal={maxFee.amountDecimal} unit={maxFee.asset} className="font-semibold" />
        </p>
      )}
      {needsApproval && (
        <p className="mb-4 text-warn">
          {t('This is more than was permitted for the transfer. It is decided on first, as the transfer was.')}
        </p>
      )}
      <Problem error={replace.error} />
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look={isFaster ? 'primary' : 'danger'} busy={replace.isPending} onClick={() => replace.mutate()}>
          {needsApproval ? t('Send the request') : isFaster ? t('Speed up') : t('Cancel on chain')}
        </Button>
        <Button onClick={onClose}>{t('Back')}</Button>
      </div>
    </>
  )
}

/** Says that the confirmation takes longer than usual. */
export function StuckBanner({ stuckSince, mayReplace }: { stuckSince: string; mayReplace: boolean }) {
  return (
    <div role="status" className="mb-4 rounded-lg border border-warn bg-warn-soft p-3 text-warn">
      <p className="font-medium">{t('This transfer waits for its confirmation for longer than usual.')}</p>
      <p>
        {t('Since {time}.', { time: formatTimeInFull(stuckSince) })}{' '}
        {mayReplace && t('Speed it up, or cancel it on chain. Do not order it again.')}
      </p>
    </div>
  )
}
