import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import type { FeeLevel } from '../../../lib/fee-levels.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { Order } from './load-order.ts'
import type { TransferOrder } from './schema.ts'

/** An order as requested; `amount` is in token units. */
export type OrderBody = Static<typeof TransferOrder>

/** The order as it is stored, voted on and handed over; `amount` is in the smallest unit. */
export type Payload = {
  transferId: string
  vaultId: string
  initiatorId: string
  fromAddressId: string
  fromAddress: string
  network: string
  coinType: number
  derivationPath: string
  toAddress: string
  tokenId: string
  contractAddress: string | null
  amount: string
  /** Only if the order has it, so that the hash of an order without it is what it always was. */
  feeLevel?: FeeLevel
  /** The most that may be paid in fees, in the smallest unit of the network's coin; as `feeLevel`. */
  maxFee?: string
  /** Number of the version of the vault's rules; in a protected vault only, as `expiresAt`. */
  rulesVersion?: number
  /** Instant after which nothing is signed, in the form of `toISOString`. */
  expiresAt?: string
}

/** What of an order has columns of its own; null in place of what an order may leave out. */
export type StoredPayload = Required<Omit<Payload, 'feeLevel' | 'maxFee' | 'rulesVersion' | 'expiresAt'>> &
  Record<'feeLevel' | 'maxFee', string | null>

/** Whether the order was signed by who ordered it, so that votes on it are, too (docs/signed-orders.md). */
export const isSignedOrder = ({ expiresAt }: Payload): boolean => expiresAt !== undefined

/** The SHA-256 that votes and hand-over are bound to (threat T27). */
export function hashPayload(payload: Payload): Buffer {
  return sha256(canonicalJson(payload))
}

/** The resolved order in the form that is stored, voted on and handed over. */
export function toPayload(id: string, member: Member, order: Order): Payload {
  const { source, to, amount, feeLevel, maxFee } = order
  return {
    transferId: id,
    vaultId: member.vault.id,
    initiatorId: member.userId,
    fromAddressId: source.address_id,
    fromAddress: source.address,
    network: source.network_slug,
    coinType: source.coin_type,
    derivationPath: source.derivation_path,
    toAddress: to.address,
    tokenId: source.token_id,
    contractAddress: source.contract_address,
    amount: amount.toString(),
    ...(feeLevel === undefined ? {} : { feeLevel }),
    ...(maxFee === undefined ? {} : { maxFee: maxFee.raw.toString() }),
  }
}
