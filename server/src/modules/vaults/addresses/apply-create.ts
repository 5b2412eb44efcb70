import type { Static } from 'typebox'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { AppError, unavailable } from '../../../lib/errors.ts'
import { addressIndexAttemptsMax } from '../../../lib/limits.ts'
import type { Executor, Step } from '../../rules/votes/executor.ts'
import { type Derivation, deriveAddress, IndexTakenError, insertAddress, placeAddress } from './create.ts'
import { inTurn } from './prefix-queue.ts'
import type { AddressRow } from './queries.ts'
import type { AddressCreation } from './schema.ts'

type Hooks = {
  /** Called in the transaction that stores an address; credits events that arrived before it. */
  onAddressCreated: (trx: Trx, address: AddressRow) => Promise<void>
}

/** The address from the wallet service, or the error that `apply` throws. */
type Fetched = { derivation: Derivation } | { fault: AppError }

/** Creates the next address of a combination of segments; the initiator becomes its owner. */
export function createAddressExecutor(deps: Deps, { onAddressCreated }: Hooks): Executor {
  return {
    async prepare(db, { vaultId }, step) {
      const { network, plan } = await placeAddress(db, vaultId, payloadOf(step))
      return {
        step,
        targetType: 'address',
        targetId: null,
        baseVersion: null,
        facts: {
          networkSlug: network.slug,
          routeVariants: plan.variants,
          ...(plan.token === null ? {} : { token: { id: plan.token.id, code: plan.token.code } }),
        },
      }
    },

    async prefetch(context, step, use) {
      const placed = await settle(placeAddress(deps.db, context.vaultId, payloadOf(step)))
      if ('fault' in placed) return use(placed satisfies Fetched)
      const placement = placed.value
      return inTurn(`${context.vaultId} ${placement.plan.staticPrefix}`, async (deadline) => {
        for (let attempt = 1; attempt <= addressIndexAttemptsMax; attempt += 1) {
          const derived = await settle(deriveAddress(deps, context.vaultId, placement, deadline))
          const fetched: Fetched = 'fault' in derived ? derived : { derivation: derived.value }
          try {
            return await use(fetched)
          } catch (error) {
            if (!(error instanceof IndexTakenError)) throw error
          }
        }
        throw unavailable('Too many addresses are being created here', 1)
      })
    },

    async apply(trx, { vaultId, initiatorId, now }, step, _baseVersion, given) {
      const fetched = given as Fetched
      if ('fault' in fetched) throw fetched.fault
      const payload = payloadOf(step)
      const placement = await placeAddress(trx, vaultId, payload)
      const { derivation } = fetched
      const by = { vaultId, actorId: initiatorId, now }
      return { resultId: await insertAddress(trx, payload, placement, derivation, by, onAddressCreated) }
    },
  }
}

/** The route has validated the payload as AddressCreation, and its hash ensures that it is unchanged. */
function payloadOf(step: Step): Static<typeof AddressCreation> {
  return step.payload as Static<typeof AddressCreation>
}

/** Returns a fault of the request as a value; errors of the wallet service or the database are thrown. */
async function settle<Value>(work: Promise<Value>): Promise<{ value: Value } | { fault: AppError }> {
  try {
    return { value: await work }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return { fault: error }
    throw error
  }
}
