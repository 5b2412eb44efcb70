import type { Member } from '../../../access/caller.ts'
import type { Order } from './load-order.ts'
import type { Payload } from './payload.ts'

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
