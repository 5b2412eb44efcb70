import { expect } from 'vitest'
import { visibleScopeOf } from '../../server/src/access/address-scope.ts'
import { findMemberById } from '../../server/src/access/authenticate.ts'
import { inTransaction } from '../../server/src/db/transaction.ts'
import { findSources } from '../../server/src/modules/money/orders/gather.ts'
import { loadOrder } from '../../server/src/modules/money/orders/load-order.ts'
import { decideAgain, findOrderNow } from '../../server/src/modules/money/orders/recheck.ts'
import { listFirstCategoryKeys } from '../../server/src/modules/operations/assignments/queries.ts'
import { decide } from '../../server/src/modules/rules/decisions/decide.ts'
import { sumsOf, sumVelocityOfBatch } from '../../server/src/modules/rules/decisions/velocity-sums.ts'
import { velocityScopes } from '../../server/src/modules/rules/selectors/facts.ts'
import { statementsOf } from './columns.ts'
import type { World } from './world.ts'

/** The statements that read facts of policies: for an order, a payout, one of them again, and actions on the address book. */
export async function statementsOfFacts(world: World): Promise<Set<string>> {
  const ofOrders = await statementsOf(() => decideOnOrders(world))
  const ofActions = await statementsOf(() => simulateActions(world))
  const ofRequests = await statementsOf(() => world.bench.vault.admin.get(world.bench.url))
  return new Set([...ofOrders, ...[...ofActions].filter((text) => !ofRequests.has(text))])
}

async function decideOnOrders({ bench, questions }: World): Promise<void> {
  const { db } = bench.test.deps
  const vaultId = bench.vault.id
  const now = bench.test.clock.now()
  const { initiatorId, body } = questions.find((question) => question.body.metadata?.category === 'travel')!
  const initiator = (await findMemberById(db, vaultId, initiatorId))!
  const scope = visibleScopeOf(initiator)
  const loading = { scope, initiator, spends: true, now }
  const { question } = await loadOrder(db, { ...body, maxFee: '1000' }, loading)
  const { facts } = question
  await loadOrder(db, { fromAddressId: body.fromAddressId, toAddress: body.toAddress, amount: '1' }, loading)
  await decide(db, question)
  await findSources(db, scope, [body], { now })
  const windows = velocityScopes.map((per) => ({ per, windowSeconds: 3_600 }))
  await sumsOf(vaultId, windows, facts)!.execute(db)
  await sumVelocityOfBatch(db, vaultId, windows, { orders: [facts], withoutPayout: null })
  const [waiting] = await bench.sql(`select o.id, o.initiator_id, o.address_id from operations o
    where o.vault_id = '${vaultId}' and o.type = 'transfer' and o.status = 'awaiting_approval' limit 1`)
  const transferId = String(waiting!.id)
  const payload = {
    vaultId,
    transferId,
    initiatorId: String(waiting!.initiator_id),
    fromAddressId: String(waiting!.address_id),
  }
  const recorded = { payload, facts, isWaived: false } as Parameters<typeof decideAgain>[1]
  await inTransaction(db, async (trx) => {
    const found = await findOrderNow(trx, payload)
    const again = await decideAgain(trx, recorded, { ...found, isSumKept: false, now })
    expect(again).toHaveProperty('decision')
  })
  await listFirstCategoryKeys(db, vaultId, [transferId])
}

async function simulateActions({ bench }: World): Promise<void> {
  const { admin } = bench.vault
  const idOf = async (from: string) => String((await bench.sql(`select id from ${from} limit 1`))[0]!.id)
  const member = 'select counterparty_id from counterparty_group_memberships'
  const counterpartyId = await idOf(`counterparties where id in (${member})`)
  const otherId = await idOf(`counterparties where id not in (${member})`)
  const groupId = await idOf('counterparty_groups')
  const group = { code: 'another', name: 'Another' }
  const created = { name: 'Anybody', kind: 'company' }
  const address = { network: 'ethereum', segments: { purpose: 'ops' } }
  for (const [actionType, payload, targetId] of [
    ['create_address', address],
    ['hold_place', {}],
    ['counterparty_create', created],
    ['counterparty_update', { kind: 'exchange' }, counterpartyId],
    ['counterparty_archive', {}, counterpartyId],
    ['counterparty_group_create', group],
    ['counterparty_group_update', { name: 'Another' }, groupId],
    ['counterparty_group_archive', {}, groupId],
    ['counterparty_group_add', { counterpartyId: otherId }, groupId],
    ['counterparty_group_remove', { counterpartyId }, groupId],
  ] as const) {
    const simulated = await admin.post(`${bench.url}/policies/simulate`, {
      actionType,
      payload,
      ...(targetId === undefined ? {} : { targetId }),
    })
    expect(simulated.status, `${actionType} ${JSON.stringify(simulated.body)}`).toBeLessThan(300)
  }
}
