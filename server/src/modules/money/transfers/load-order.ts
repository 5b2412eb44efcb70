import { type AddressScope, subjectsOf } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { forbidden, notFound } from '../../../lib/errors.ts'
import { findNamedCategory, type NamedCategory } from '../../operations/assignments/first-category.ts'
import type { Question } from '../../rules/policies/decide.ts'
import type { Initiator } from '../../rules/policies/queries.ts'
import { factsOf } from './facts.ts'
import type { OrderBody } from './payload.ts'
import { type Order, planOrder } from './plan-order.ts'
import { findSource } from './queries.ts'

/** An order with the facts for the policies; `category` is the one it declares. */
export type LoadedOrder = { order: Order; category: NamedCategory | null; question: Question }

/**
 * Reads everything that an order refers to, and checks it.
 *
 * @param scope which source addresses the caller may name
 * @param spends whether the caller places the order; a simulation may name any initiator
 * @throws 400 for a wrong order, 404 for an address that the caller does not see, 403 for one they may not move funds from
 *   or a category that the initiator may not assign, 409 for an archived recipient
 */
export async function loadOrder(
  db: Db | Trx,
  body: OrderBody,
  { scope, initiator, spends, now }: { scope: AddressScope; initiator: Initiator; spends: boolean; now: Date },
): Promise<LoadedOrder> {
  const { vaultId } = scope
  const source = await findSource(db, scope, body.fromAddressId, body, now)
  if (source === null) throw notFound('Address')
  // A viewer of an address may not necessarily spend from it.
  if (spends && !source.can_transfer) {
    throw forbidden('Only the owner of an address and members with a transfer grant on it may transfer from it')
  }
  const order = planOrder(source, body)

  const key = body.metadata?.category ?? null
  const viewer = { isAdmin: initiator.isAdmin, isOwnOperation: true, subjects: subjectsOf(initiator) }
  const naming = { type: 'transfer', viewer, field: 'metadata.category' } as const
  const category = key === null ? null : await findNamedCategory(db, vaultId, { key, ...naming })
  const facts = factsOf(order, { initiator, category: category?.category.key ?? null, now })
  return { order, category, question: { vaultId, actionType: 'transfer', initiator, facts } }
}
