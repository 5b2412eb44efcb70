import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { AppError, badRequest, faulty, refusalFor } from '../../../lib/errors.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { type Drafts, decide, decideTrying, factsOfInitiator, type Initiator } from '../../rules/decisions/decide.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import type { ActionType, Facts } from '../../rules/selectors/facts.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { AddressCreation } from '../../vaults/addresses/schema.ts'
import { factsOfNewOrder, findHoldOnOrder, loadOrder, type Order } from '../orders/load-order.ts'
import { notAsked, objectionsTo } from '../orders/objections.ts'
import { UnsignedOrder } from '../orders/schema.ts'

type Simulation = {
  member: Member
  initiator: Initiator
  actionType: ActionType
  targetId: string | null
  payload: Record<string, unknown>
  /** Policies that are not saved; null when the saved policies decide. */
  drafts: Drafts | null
  now: Date
}

/** `funds` are in token units; null for an action that moves no funds. */
type Outcome = { decision: Decision; funds: { available: string; missing: string } | null }

const readTransfer = payloadReader(UnsignedOrder)
const readAddress = payloadReader(AddressCreation)

/**
 * Returns the decision of the policies if the initiator requested the action now; changes nothing and locks nothing. The member
 * who simulates may name the addresses that they see, even where the initiator could not spend from them.
 *
 * @throws 400 with paths into the request, 404 and 409 as the action itself
 */
export async function simulate(db: Db, executors: Executors, simulation: Simulation): Promise<Outcome> {
  const { member, initiator, actionType, targetId, payload, drafts, now } = simulation
  const vaultId = member.vault.id
  return withinPayload(async () => {
    if (targetId !== null && (actionType === 'transfer' || actionType === 'create_address')) {
      throw badRequest('targetId', `does not belong to ${actionType}`)
    }
    if (actionType === 'transfer') {
      const scope = visibleScopeOf(member)
      const loading = { scope, initiator, spends: false, now }
      const { order, question, candidates } = await loadOrder(db, readTransfer(payload), loading)
      const hold = await findHoldOnOrder(db, vaultId, order, initiator.userId)
      const known = { ...factsOfNewOrder(order), ...notAsked, hold, initiatorId: initiator.userId, decision: null }
      for (const objection of objectionsTo('simulation', known)) throw refusalFor(objection)
      return { decision: await decideTrying(db, candidates, question, drafts), funds: fundsOf(order) }
    }
    if (actionType === 'hold_place') {
      const question = { vaultId, actionType, initiator, facts: factsOfInitiator(initiator, now) }
      return { decision: await decide(db, question, drafts), funds: null }
    }
    const executor = executors[actionType]
    if (executor === undefined) throw badRequest('actionType', `${actionType} is not available yet`)
    if (executor.decide !== undefined) {
      throw badRequest('actionType', `${actionType} takes two people, whatever the policies say`)
    }
    // The other executors validate their payloads themselves.
    if (actionType === 'create_address') readAddress(payload)
    const context = { vaultId, initiatorId: initiator.userId, now }
    const { facts } = await executor.prepare(db, context, { action: actionType, targetId, payload })
    const known = { ...facts, ...factsOfInitiator(initiator, now) } as Facts
    const question = { vaultId, actionType, initiator, facts: known }
    return { decision: await decide(db, question, drafts), funds: null }
  })
}

function fundsOf({ source, amount }: Order): Outcome['funds'] {
  const available = BigInt(source.available ?? '0')
  const missing = available < amount ? amount - available : 0n
  return { available: formatDecimal(available, source.decimals), missing: formatDecimal(missing, source.decimals) }
}

const fieldsOutside: readonly string[] = ['targetId', 'actionType']

/** Prefixes the fields of faults in the payload with the path of the payload in the request. */
async function withinPayload<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400 || !Array.isArray(error.details)) throw error
    throw faulty(
      error.details.map(({ field, message }) => {
        if (fieldsOutside.includes(field)) return { field, message }
        return { field: field === '' || field === 'body' ? 'payload' : `payload.${field}`, message }
      }),
    )
  }
}
