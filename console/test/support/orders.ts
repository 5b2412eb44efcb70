import type { Transfer } from '@strongroom/sdk'
import { type Stack, vaultCode } from './stack.ts'

/** Somebody outside whom nothing is known of. */
export const stranger = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The address that the demo funds. */
export async function operationsOf(stack: Stack) {
  const treasurer = await stack.client('treasurer')
  const { items } = await treasurer.vault(vaultCode).addresses.list({ search: 'Operations', limit: 1 }).page()
  return items[0]!
}

/** A transfer that the treasurer orders: above 100 TUSD it waits for one vote of the treasury. */
export async function orderTransfer(stack: Stack, amount: string, more: { maxFee?: string; toAddress?: string } = {}) {
  const { transfers } = (await stack.client('treasurer')).vault(vaultCode)
  const order = {
    toAddress: stranger,
    token: 'TUSD',
    amount,
    metadata: { paymentPurpose: `Invoice ${amount}` },
    ...more,
  }
  const { id } = await transfers.create({ fromAddressId: (await operationsOf(stack)).id, ...order })
  return { id, read: (): Promise<Transfer> => transfers.get(id) }
}
