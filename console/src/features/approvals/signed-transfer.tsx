import type { Transfer } from '@strongroom/sdk'
import { type Authority, describeOrder, expectedOf, type Waiting } from '@strongroom/sdk/signing'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { nameOf } from '../../lib/session.ts'
import { signingAuthorityQuery } from '../../lib/signing-authority.ts'
import { DetailState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SignedFacts, SignedQuantity } from '../../ui/signed-order.tsx'
import { recipientOf } from './words.ts'

/** The order as the page shows it, and its signed document. */
export type Seen = { amount: ReactNode; facts: ReactNode; toSign: Waiting | null }

type Props = { code: string; transfer: Transfer; children: (seen: Seen) => ReactNode }

/** Draws an order as it is signed. An order that cannot be decoded is not shown and not signed; a veto stays possible. */
export function SignedTransfer({ code, transfer, children }: Props) {
  const authority = useQuery(signingAuthorityQuery(code))
  const seen = useMemo(
    () => (authority.data === undefined ? authority.error : decoded(transfer, authority.data)),
    [transfer, authority.data, authority.error],
  )
  if (seen === null) return <DetailState query={authority}>{null}</DetailState>
  return children(seen instanceof Error ? { amount: null, facts: <Problem error={seen} />, toSign: null } : seen)
}

function decoded(transfer: Transfer, authority: Authority | null): Seen | Error {
  const { payload, initiator } = transfer
  try {
    const description = describeOrder(payload, authority)
    const names = { recipient: recipientOf(transfer), initiator: nameOf(initiator) }
    return {
      amount: <SignedQuantity quantity={description.amount} />,
      facts: <SignedFacts shown={description} names={names} />,
      toSign: { kind: 'transfer', order: payload, expected: { ...expectedOf(description), authority } },
    }
  } catch (error) {
    return error as Error
  }
}
