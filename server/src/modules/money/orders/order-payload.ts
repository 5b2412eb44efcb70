import type { Member } from '../../../access/caller.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { Order } from './load-order.ts'
import type { Payload } from './payload-schema.ts'

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
