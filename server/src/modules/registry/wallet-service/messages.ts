import { type Static, Type } from 'typebox'
import { rawAmountPattern } from '../../../lib/money.ts'

/**
 * The answers of a wallet service (contract 17). Unknown members are ignored, so that the protocol can be extended;
 * known members must match their schema exactly.
 */

const Amount = Type.String({ pattern: rawAmountPattern })
const Visible = Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$' })
const Text = Type.String({ maxLength: 4_000 })
const OrNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const DerivedAddress = Type.Object({ address: Visible })

export const TransferStatus = Type.Object({
  id: Type.Optional(Visible),
  status: Type.Union([
    Type.Literal('queued'),
    Type.Literal('broadcast'),
    Type.Literal('confirmed'),
    Type.Literal('failed'),
  ]),
  txHash: OrNull(Visible),
  fee: OrNull(Amount),
  feePaidBy: OrNull(Visible),
  confirmations: Type.Integer({ minimum: 0 }),
  blockTime: OrNull(
    Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$' }),
  ),
  failureReason: OrNull(Text),
  network: Type.Optional(OrNull(Visible)),
  fromAddress: Type.Optional(OrNull(Visible)),
  toAddress: Type.Optional(OrNull(Visible)),
  contractAddress: Type.Optional(OrNull(Visible)),
  amount: Type.Optional(OrNull(Amount)),
})
export type TransferStatus = Static<typeof TransferStatus>

export const Balance = Type.Object({ balance: Amount })
export const FeeEstimate = Type.Object({ fee: Amount })
export const Refusal = Type.Object({ message: Text })

export type AddressOrder = { network: string; coinType: number; derivationPath: string }
export type TransferOrder = {
  id: string
  network: string
  coinType: number
  derivationPath: string
  fromAddress: string
  toAddress: string
  /** null: the coin of the network. */
  contractAddress: string | null
  /** Smallest units, as digits. */
  amount: string
}
export type FeeQuestion = Omit<TransferOrder, 'id' | 'coinType' | 'derivationPath'>
export type BalanceQuestion = { network: string; address: string; contract: string | null }
