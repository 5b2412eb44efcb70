import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Deps } from '../../../deps.ts'
import type { Address } from '../../../testing/answer.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  bench.vault.wallet.refuse = null
  address = await bench.fundedAddress()
})
afterEach(() => bench.expectSoundLedger())

async function ordered(): Promise<string> {
  const { status, body } = await bench.order(address.id, '40')
  expect([status, body.status]).toEqual([201, 'pending'])
  return body.id
}

const withCalls = (calls: (honest: WalletClient) => Partial<WalletClient>) => async (deps: Deps, vaultId: string) => {
  const honest = await walletOfVault(deps, vaultId)
  return { ...honest, ...calls(honest) }
}

describe('a wallet service that refuses an order', () => {
  it('T22 and is not reached by the question after it leaves the outcome unknown: nobody can cancel the transfer', async () => {
    const id = await ordered()
    await bench.deliver(
      withCalls((honest) => ({
        async submitTransfer(order) {
          await honest.submitTransfer(order)
          throw new WalletServiceError('refused', 'the same order again', { status: 400 })
        },
        getTransfer: () => Promise.reject(new WalletServiceError('unreachable', 'No connection')),
      })),
    )
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect((await bench.act(bench.owner, id, 'cancel')).body.reason).toBe('wrong_state')
    expect(await bench.balances(address.id)).toEqual({ available: '960', reserved: '40' })
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect((await bench.read(id)).handedOverAt).not.toBeNull()
  })

  it('has not got it, so that there is no time of a hand-over', async () => {
    const refused = await ordered()
    bench.vault.wallet.refuse = 'the recipient is on a list'
    await bench.deliver()
    expect(await bench.read(refused)).toMatchObject({ status: 'failed', handedOverAt: null })
  })

  it('because it has another order under its id has not got it, so that there is no time of a hand-over', async () => {
    const id = await ordered()
    await bench.deliver(
      withCalls((honest) => ({
        submitTransfer: async (order) => {
          await honest.submitTransfer({ ...order, amount: '1' })
          return honest.submitTransfer(order)
        },
      })),
    )
    expect(await bench.read(id)).toMatchObject({
      haltReason: 'The wallet service knows this transfer with another order',
      handedOverAt: null,
    })
  })
})
