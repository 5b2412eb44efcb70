import { afterAll, beforeAll, expect, it } from 'vitest'
import { allowAll, createAddress, createVaultFixture, deposit, type VaultFixture } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { claimDue } from './claim.ts'
import { claimFollowings } from './following.ts'

let bench: TransferBench
let other: VaultFixture

beforeAll(async () => {
  bench = await createTransferBench()
  other = await createVaultFixture(bench.test, { code: 'other-vault' })
  for (const actionType of ['create_address', 'transfer'] as const) await allowAll(other, actionType)
  for (const vault of [bench.vault, other]) {
    const address = await createAddress(vault.admin, { vault: vault.code, token: 'ETH' })
    await deposit(bench.test, { address: address.address, amount: '10' })
    for (const amount of ['1', '2']) {
      const body = { fromAddressId: address.id, toAddress: bench.recipient, amount }
      expect((await vault.admin.post(`/vaults/${vault.code}/transfers`, body)).status).toBe(201)
    }
  }
})
afterAll(async () => {
  await other.wallet.close()
  await bench.close()
})

it('a claim that is limited takes the transfers of the vault whose lane is the emptiest, whatever its id', async () => {
  const ids = [bench.vault.id, other.id]
  for (const [busy, idle] of [ids, ids.toReversed()] as [string, string][]) {
    const limits = { laneMax: 2, places: { [busy]: 1 }, claimedMax: 1 }
    const claimed = await claimDue(bench.test.deps, 'hand-over', limits)
    expect(claimed.map(({ vaultId }) => vaultId)).toEqual([idle])
  }
})

it('of the wallet services that are followed, those that have waited longest come first', async () => {
  const { db, clock } = bench.test.deps
  await bench.sql(`update deliveries set queue = 'follow'`)
  const now = clock()
  const [first, last] = [bench.vault.id, other.id].toSorted()
  const claim = async (limit: number) =>
    (await claimFollowings(db, { now, leaseEndsAt: new Date(now.getTime() + 60_000), limit })).map(
      ({ vaultId }) => vaultId,
    )
  expect((await claim(2)).toSorted()).toEqual([first, last])
  const due = `update followings set ask_at = $1::timestamptz - make_interval(secs => case vault_id when $2 then 9 else 1 end)`
  await bench.sql(due, [now, last])
  expect(await claim(1)).toEqual([last])
})
