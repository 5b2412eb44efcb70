import { findMemberById } from '../../../access/authenticate.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { requestAction } from '../../rules/approval-requests/request-action.ts'
import { votesOfPeople } from '../../rules/decisions/decision.ts'
import { findAdministratorsId } from '../../rules/policy-groups/memberships.ts'
import type { Executor } from '../../rules/votes/executor.ts'
import { keepPasskey, lockPerson } from './actions.ts'
import { type NewKey, readNewKey, toPayload } from './new-key.ts'
import { listCredentials } from './queries.ts'

/**
 * The executor that adds the first passkey of a person in a protected vault. A session alone must not add the passkey: an
 * administrator accepts it with a signed vote whose payload is the key. Until then `passkeys` has no row of the key, so that the
 * service accepts no signature of it.
 */
export const passkeyExecutors: { passkey_add: Executor } = {
  passkey_add: {
    isForAuditors: true,
    async prepare(_db, { now }, step) {
      const payload = toPayload(readNewKey(step.payload, now))
      return { step: { ...step, payload }, targetType: 'passkey', targetId: null, baseVersion: null, facts: {} }
    },
    async decide(trx, { vaultId, now }, _prepared, initiator) {
      const id = await findAdministratorsId(trx, vaultId)
      const administrators = { id, code: 'second_person', name: 'A second person' }
      const facts = { now, initiatorId: initiator.userId, initiatorGroupIds: initiator.groupIds }
      const none = { blockReason: null, policies: [], trace: [], facts }
      return { ...none, ...votesOfPeople(administrators, 1) }
    },
    async apply(trx, { initiatorId: userId, now }, { payload }) {
      const key = readNewKey(payload, now)
      const { email } = await lockPerson(trx, userId)
      if ((await listCredentials(trx, userId)).length > 0) {
        throw conflict('wrong_state', 'They have a passkey by now, with which they confirm others')
      }
      await keepPasskey(trx, { userId, email, key, now })
      return { resultId: key.id }
    },
  },
}

type Asked = { userId: string; vaultId: string; key: NewKey; approvalTtlHours: number; now: Date }

/** Asks the administrators of a vault to accept the key. Returns the member and the id of the approval request. @throws 409 */
export async function askSecondPerson(trx: Trx, { userId, vaultId, key, approvalTtlHours, now }: Asked) {
  const member = await findMemberById(trx, vaultId, userId)
  if (member === null) throw notFound('Vault')
  const outcome = await requestAction(trx, {
    member,
    action: 'passkey_add',
    steps: [{ action: 'passkey_add', targetId: null, payload: toPayload(key) }],
    executors: passkeyExecutors,
    approvalTtlHours,
    now,
  }).catch(
    onViolation('approval_requests_passkey', () =>
      conflict('already_exists', 'A passkey of yours already waits: have it accepted, or cancel its request'),
    ),
  )
  if (!('request' in outcome)) throw new Error('A first passkey was added without a second person')
  return { member, requestId: outcome.request }
}
