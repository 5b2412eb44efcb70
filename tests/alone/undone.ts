import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'vitest'
import { deliverDueTransfers } from '../../server/src/modules/money/delivery/deliver.ts'
import type { Answer } from '../../server/src/testing/answer.ts'
import type { Person } from '../../server/src/testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import { addMember, createAddress, deposit } from '../../server/src/testing/fixtures.ts'
import type { GovernanceBench } from '../../server/src/testing/governance-bench.ts'

async function done<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
  const { status, body } = await answer
  expect([200, 201, 202], JSON.stringify(body)).toContain(status)
  return body
}

/**
 * Work that waits for somebody, so that every operation has something to act on. It is of a person and of addresses that no question
 * of the campaign asks about, because a second person decides on some of it.
 */
// tidy: long because it is a list of what waits
export async function leaveUndone(bench: GovernanceBench, administrator: Person, service: Person) {
  const { test, vault, url } = bench
  const { admin } = vault
  const temp = await addMember(test, vault, 'temp@example.org', ['temps'])
  const gone = await addMember(test, vault, 'gone@example.org', ['temps'])
  await done(admin.post(`/users/${gone.userId}/disable`, { reason: 'They left' }))
  const held = await addMember(test, vault, 'held@example.org', ['temps'])
  const [from, other] = [await createAddress(temp), await createAddress(temp)]
  const txHash = fakeTxHash('twice')
  await deposit(test, { address: from.address, amount: '100', txHash, index: 0 })
  await deposit(test, { address: from.address, amount: '99', txHash, index: 0 })
  await deposit(test, { address: other.address, amount: '10' })
  const address = await createAddress(administrator)
  for (let count = 0; count < 2; count += 1) await deposit(test, { address: address.address, amount: '50' })
  await done(
    administrator.post(`${url}/addresses/${address.id}/grants`, { subjectType: 'user', subjectId: temp.userId }),
  )
  const folder = await done(administrator.post(`${url}/address-groups`, { name: 'Shared' }))
  await done(
    administrator.post(`${url}/address-groups/${folder.id}/grants`, { subjectType: 'user', subjectId: temp.userId }),
  )
  await createAddress(service)
  const adjustment = { addressId: other.id, tokenId: vault.tokens.eth.id, amount: '1', reason: 'A count' }
  await done(admin.post(`${url}/adjustments`, adjustment))
  await done(admin.post('/invitations', { email: 'invited@example.org', groupIds: [bench.membersId] }))
  const suppliers = await done(admin.post(`${url}/counterparty-groups`, { code: 'suppliers', name: 'Suppliers' }))
  const [supplier] = (await admin.get(`${url}/counterparties`)).body.items
  await done(admin.post(`${url}/counterparty-groups/${suppliers.id}/members`, { counterpartyId: supplier!.id }))
  const bank = await done(admin.post(`${url}/counterparties`, { name: 'Bank', kind: 'company' }))
  const ofOrders = { sourceOperationType: 'deposit', targetOperationType: 'deposit', relationType: 'correction' }
  const [first, second] = (await administrator.get(`${url}/deposits`)).body.items.map(({ id }) => id)
  const relation = { ...ofOrders, sourceOperationId: first, targetOperationId: second }
  await done(administrator.post(`${url}/operation-relations`, relation))
  const robot = { name: 'Clerk of keys', groupIds: [bench.membersId] }
  const { id: robotId } = await done(administrator.post(`${url}/service-tokens`, robot))
  const key = { name: 'A key', publicKey: newServiceKey() }
  await done(administrator.post(`${url}/service-tokens/${robotId}/keys`, key))
  const shop = fakeAddress('a shop')
  const order = (by: Person, fromAddressId: string, amount: string, metadata: object = {}) =>
    done(by.post(`${url}/transfers`, { fromAddressId, toAddress: shop, amount, token: 'ETH', metadata }))
  const deliver = async () => {
    await bench.sql(`update deliveries set next_attempt_at = $1 where queue in ('hand-over', 'follow')`, [
      test.clock.now(),
    ])
    await deliverDueTransfers(test.deps)
  }
  vault.wallet.transactions = new Map()
  const payments = [
    { index: 0, fromAddress: null, toAddress: from.address, contractAddress: null, amount: `99${'0'.repeat(18)}` },
  ]
  vault.wallet.mine({ hash: txHash, from: fakeAddress('somebody outside'), payments })
  return {
    /** The request that begins a change of the rules by votes. */
    async underGovernance(platform: Person): Promise<void> {
      const waiting = { category: 'travel' }
      for (const amount of ['2', '3']) await order(temp, from.id, amount, waiting)
      await order(administrator, address.id, '2', waiting)
      for (const [by, fromAddressId, amount] of [
        [temp, from.id, '4'],
        [administrator, address.id, '4'],
      ] as const) {
        const rows = [{ externalId: `of ${by.email}`, fromAddressId, toAddress: shop, amount, token: 'ETH' }]
        await done(by.post(`${url}/payouts`, { name: 'Salaries', rows }))
      }
      const token = { network: 'ethereum', code: 'NEW', symbol: 'NEW', name: 'New', decimals: 6 }
      const { id: tokenId } = await done(platform.post('/tokens', { ...token, contractAddress: fakeAddress('new') }))
      const rate = { usdRate: '1', asOf: test.clock.now().toISOString(), source: 'manual' }
      await done(platform.post(`/tokens/${tokenId}/rates`, rate))
      await done(platform.patch(`/tokens/${tokenId}`, { symbol: 'NEWER' }))
      const hold = (subjectType: string, subjectId: string) =>
        done(admin.post(`${url}/holds`, { subjectType, subjectId, reason: 'Somebody looks at it' }))
      await hold('user', held.userId)
      await hold('address', other.id)
      const changes = [{ action: 'policy_group_create', payload: { code: 'night', name: 'Night shift' } }]
      const draft = { title: 'A night shift', changes }
      const stale = await done(administrator.post(`${url}/change-sets`, draft))
      expect(stale.status).toBe('draft')
      const block = { code: 'stop-far', name: 'Stop far', actionType: 'transfer', effect: 'block', rules: stops }
      await done(admin.post(`/policy-groups/${vault.groups.everyone}/policies`, block))
      await done(administrator.post(`${url}/change-sets`, { ...draft, title: 'A night shift again' }))
      await done(administrator.post(`${url}/change-sets`, { ...draft, title: 'A night shift at last' }))
      await done(administrator.post(`/policy-groups/${bench.membersId}/members`, { userId: temp.userId }))
      await done(admin.patch(`${url}/counterparties/${bank.id}`, { name: 'The bank' }))
      await done(admin.patch(`${url}/counterparty-groups/${suppliers.id}`, { name: 'All suppliers' }))
      const sent = [await order(administrator, address.id, '1'), await order(administrator, address.id, '1')]
      const lost = await order(administrator, address.id, '1')
      for (const { id } of [...sent, lost]) await done(admin.post(`${url}/transfers/${id}/approve`))
      await deliver()
      for (const { id } of sent) vault.wallet.broadcast(id)
      vault.wallet.forget(lost.id)
      await deliver()
    },
  }
}

const selectors = [{ selectorType: 'amount', value: { op: 'gt', value: '1000000' } }]
const stops = [{ conditionType: 'require', selectors }]

export function newServiceKey(): string {
  return generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64url')
}
