import { type Authority, describeOrder, describePayout, expectedOf, type Waiting } from '@strongroom/sdk/signing'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { vaultOf } from '../lib/api.ts'
import { signShown } from '../lib/sign-votes.ts'
import { readSigningAuthority } from '../lib/signing-authority.ts'
import { Button } from './button.tsx'
import { Skeleton } from './list-states.tsx'
import { Problem } from './problem.tsx'
import { SignedFacts, SignedHead, SignedQuantity, SignedSums } from './signed-order.tsx'
import { StopChoice } from './stop-choice.tsx'

export type Cancelled = { kind: 'transfer' | 'payout'; id: string; payloadHash: string }
type SignedCancelProps = {
  code: string
  cancelled: Cancelled
  verb: string
  onDone: () => unknown
  children?: ReactNode
}

/** Cancels an order of a protected vault, with or without a signature. The order is decoded from the signed document. */
export default function SignedCancel({ code, cancelled, verb, onDone, children }: SignedCancelProps) {
  const decoded = useQuery(decodedQuery(code, cancelled))
  const [isSigned, sign] = useState(true)
  const toSign = isSigned ? (decoded.data?.toSign ?? null) : null
  const cancel = useMutation({ mutationFn: () => send(code, cancelled, toSign), onSuccess: onDone })
  return (
    <>
      {decoded.isPending && <Skeleton rows={4} />}
      {decoded.data !== undefined && (
        <>
          <div className="mb-4 rounded-md bg-ground p-3">{decoded.data.shown}</div>
          <StopChoice isSigned={isSigned} choose={sign} />
        </>
      )}
      {/* An order that cannot be decoded is cancelled without a signature. */}
      <Problem error={cancel.error ?? decoded.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="danger" busy={cancel.isPending || decoded.isPending} onClick={() => cancel.mutate()}>
          {verb}
        </Button>
        {children}
      </div>
    </>
  )
}

type Decoded = { shown: ReactNode; toSign: Waiting }

const decodedQuery = (code: string, cancelled: Cancelled) =>
  queryOptions({
    queryKey: ['signed-cancel', code, cancelled],
    // Read only once, so that a later answer does not change what is confirmed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    queryFn: async (): Promise<Decoded> => {
      const [authority, orders] = await Promise.all([readSigningAuthority(code), ordersOf(code, cancelled)])
      return cancelled.kind === 'transfer'
        ? decodedOrder(orders[0], authority)
        : decodedPayout(cancelled.id, orders, authority)
    },
  })

async function ordersOf(code: string, { kind, id }: Cancelled): Promise<unknown[]> {
  const { transfers, payouts } = vaultOf(code)
  if (kind === 'transfer') return [(await transfers.get(id)).payload]
  const orders = []
  for await (const { payload } of payouts.listRows(id, { limit: 100 })) orders.push(payload)
  return orders
}

function decodedOrder(order: unknown, authority: Authority | null): Decoded {
  const description = describeOrder(order, authority)
  return {
    shown: (
      <>
        <p className="mb-2 text-xl font-semibold">
          <SignedQuantity quantity={description.amount} />
        </p>
        <SignedFacts shown={description} />
      </>
    ),
    toSign: { kind: 'transfer', order, expected: { ...expectedOf(description), authority } },
  }
}

function decodedPayout(payoutId: string, orders: readonly unknown[], authority: Authority | null): Decoded {
  const description = describePayout(payoutId, orders, authority)
  return {
    shown: (
      <>
        <SignedSums shown={description} />
        <SignedHead shown={description} />
      </>
    ),
    toSign: { kind: 'payout', payoutId, orders, expected: { authority, rows: description.rows.map(expectedOf) } },
  }
}

async function send(code: string, { kind, id, payloadHash }: Cancelled, toSign: Waiting | null): Promise<unknown> {
  const { transfers, payouts } = vaultOf(code)
  const body = toSign === null ? {} : { signature: await signShown(code, toSign, payloadHash, 'cancel') }
  return kind === 'transfer' ? transfers.cancel(id, body) : payouts.cancel(id, body)
}
