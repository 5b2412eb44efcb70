import { conflict, type FieldFault, faulty } from '../../../lib/errors.ts'
import { parseDecimal } from '../../../lib/money.ts'
import { parseOnchainAddress } from '../../../lib/onchain-address.ts'
import type { OrderBody } from './payload.ts'
import type { SourceRow } from './queries.ts'

/** A transfer order that is resolved and checked, ready for a decision. */
export type Order = {
  source: SourceRow & { token_id: string; token_code: string; decimals: number }
  to: { address: string; key: string }
  amount: bigint
}

/**
 * Checks an order against its source address.
 * @throws 400 naming every wrong field, 409 when the recipient is an archived counterparty
 */
export function planOrder(source: SourceRow, body: OrderBody): Order {
  const faults: FieldFault[] = []
  const { token_id, token_code, decimals } = source
  if (token_id === null || token_code === null || decimals === null) {
    const field = body.tokenId !== undefined ? 'tokenId' : 'token'
    const message =
      body.token === undefined && body.tokenId === undefined
        ? 'is required, because the address has no primary token'
        : 'is not a token of the network of this address'
    throw faulty([{ field, message }])
  }
  if (body.token !== undefined && body.token !== token_code)
    faults.push({ field: 'token', message: `is not the token that tokenId names, which is ${token_code}` })
  const amount = parseDecimal(body.amount, decimals)
  if (amount === null) faults.push({ field: 'amount', message: `must fit ${token_code} with its ${decimals} decimals` })
  else if (amount === 0n) faults.push({ field: 'amount', message: 'must be greater than 0' })

  const to = parseOnchainAddress(body.toAddress, source.network_type)
  if (to === null)
    faults.push({ field: 'toAddress', message: `is not a valid address of the network ${source.network_slug}` })
  else if (to.key === source.address_key)
    faults.push({ field: 'toAddress', message: 'is the address the funds come from' })
  else if (/^0x0{40}$/.test(to.key))
    faults.push({ field: 'toAddress', message: 'is the zero address, where funds are lost' })
  else if (body.counterpartyId !== undefined && body.counterpartyId !== source.counterparty?.id)
    faults.push({ field: 'counterpartyId', message: 'is not the counterparty that toAddress belongs to' })

  if (faults.length > 0 || amount === null || to === null) throw faulty(faults)
  if (source.counterparty !== null && source.counterparty.archivedAt !== null)
    throw conflict(
      'The counterparty is archived',
      `toAddress belongs to ${source.counterparty.name}, which is archived`,
    )
  return { source: { ...source, token_id, token_code, decimals }, to, amount }
}
