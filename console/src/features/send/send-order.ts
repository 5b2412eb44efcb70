import type { Transfer, TransferOrder } from '@strongroom/sdk'
import type { OrderDescription } from '@strongroom/sdk/signing'
import { useEffect, useRef, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { isOutcomeUnknown, newIdempotencyKey } from '../../lib/forms.ts'
import { queryClient } from '../../lib/query-client.ts'
import type { Entered, Shown } from '../../lib/sign-votes.ts'

export type Sending =
  | { phase: 'editing'; error: unknown }
  | { phase: 'sending' }
  /** The answer was lost: the order may have been placed or not. */
  | { phase: 'finding out'; attempts: number; error: unknown }
  | { phase: 'ordered'; transfer: Transfer }

const attemptsMax = 30
const pauseMs = 3_000

/**
 * Places an order once, however often it is sent: the key is made when the form opens. As long as the outcome is
 * unknown, the same order is sent again under the same key.
 */
export function useSendOrder(code: string) {
  const [key, setKey] = useState(newIdempotencyKey)
  const [sending, setSending] = useState<Sending>({ phase: 'editing', error: null })
  const mounted = useRef(true)
  const signed = useRef<TransferOrder | null>(null)
  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
    }
  }, [])
  useEffect(() => warnBeforeLeaving(sending.phase === 'sending' || sending.phase === 'finding out'), [sending.phase])

  const send = async (order: TransferOrder, toSign: ToSign | null) => {
    setSending((before) => (before.phase === 'finding out' ? { ...before, attempts: 0 } : { phase: 'sending' }))
    for (let attempts = 1; mounted.current; attempts += 1) {
      try {
        // Signed only once: a repetition under the same key must send the same body.
        signed.current ??= await signedOrder(code, order, toSign)
        const transfer = await vaultOf(code).transfers.create(signed.current, { idempotencyKey: key })
        forgetWhatChanged(code)
        return setSending({ phase: 'ordered', transfer })
      } catch (error) {
        if (!isOutcomeUnknown(error)) {
          // The service ordered nothing, so the next attempt is another order.
          signed.current = null
          void queryClient.invalidateQueries({ queryKey: ['transfer-preview', code] })
          setKey(newIdempotencyKey())
          return setSending({ phase: 'editing', error })
        }
        setSending({ phase: 'finding out', attempts, error })
        if (attempts >= attemptsMax) return
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }
  const startAnew = () => {
    signed.current = null
    setKey(newIdempotencyKey())
    setSending({ phase: 'editing', error: null })
  }
  return { sending, send, startAnew, hasGivenUp: sending.phase === 'finding out' && sending.attempts >= attemptsMax }
}

/** The values that the initiator entered, and the signed document as the page showed it. */
export type ToSign = { entered: Entered; order: object; shown: Shown<OrderDescription> }

/** Returns the order with the signature of its initiator, in a vault that requires a signature. */
async function signedOrder(code: string, body: TransferOrder, toSign: ToSign | null): Promise<TransferOrder> {
  if (toSign === null) return body
  const { signEntered } = await import('../../lib/sign-votes.ts')
  return signEntered(code, body, toSign.entered, toSign.order, toSign.shown)
}

function forgetWhatChanged(code: string): void {
  for (const noun of ['transfers', 'history', 'addresses', 'balances', 'inbox', 'transfer-preview']) {
    void queryClient.invalidateQueries({ queryKey: noun === 'inbox' ? [noun] : [noun, code] })
  }
}

function warnBeforeLeaving(isOn: boolean): (() => void) | undefined {
  if (!isOn) return undefined
  const warn = (event: BeforeUnloadEvent) => event.preventDefault()
  window.addEventListener('beforeunload', warn)
  return () => window.removeEventListener('beforeunload', warn)
}
