import type { Static, TSchema } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { badRequest } from '../../../lib/errors.ts'
import { inPart, replaceTexts } from '../votes/parts.ts'

/**
 * The changes of the rules. Each change has a direct endpoint, and most of them can be part of a change set. The domains
 * implement the changes, and `composition/governed.ts` collects them, so that the engine of governance depends on no domain.
 */
export const governedActions = [
  'policy_group_create',
  'policy_group_update',
  'policy_group_delete',
  'policy_group_member_add',
  'policy_group_member_remove',
  'policy_create',
  'policy_update',
  'policy_delete',
  'member_remove',
  'invitation_create',
  'invitation_revoke',
  'service_token_create',
  'service_key_add',
  'service_key_revoke',
  'category_create',
  'category_update',
  'category_approvers_replace',
  'category_grants_replace',
  'category_field_add',
  'category_field_update',
  'category_field_delete',
  'address_group_update',
  'address_group_member_add',
  'address_group_member_remove',
  'vault_update',
  'protection_update',
  'routes_replace',
  'variant_add',
  'variant_update',
  'token_accept',
  'governance_update',
] as const
export type GovernedActionName = (typeof governedActions)[number]

export type Change = {
  action: GovernedActionName
  /** The id of the object to change; null for an action without a target. */
  targetId: string | null
  payload: Record<string, unknown>
}

/** `probed` is the answer of a wallet service that was asked outside of the transaction; null when none was asked. */
export type ChangeContext = { member: Member; now: Date; probed: unknown }

type GovernedAction = {
  /** The direct endpoint. */
  operationId: string
  /** The type of the object that `targetId` names; null for an action without a target. */
  target: string | null
  /** The body of the direct endpoint. */
  schema: TSchema
  /** True if only the direct endpoint can request it, because a secret is shown once or a passkey must confirm the request. */
  isDirectOnly?: true
  /** Returns the id of the created or changed object. */
  apply(trx: Trx, change: Change, context: ChangeContext): Promise<string | null>
}

type GovernedActions = Readonly<Record<GovernedActionName, GovernedAction>>

/**
 * The governed actions. `withProbe` runs `change`; when an action needs the answer of a wallet service, it asks the wallet
 * service outside of the transaction and runs `change` again with the answer.
 */
export type Governed = {
  actions: GovernedActions
  withProbe<Result>(change: (probed: unknown) => Promise<Result>): Promise<Result>
}

/** Returns an entry of the table. Its payload is checked like the body of the endpoint, and typed by the schema. */
export function governedAction<T extends TSchema>(
  entry: Omit<GovernedAction, 'apply' | 'schema'> & { schema: T },
  apply: (trx: Trx, change: { targetId: string; payload: Static<T> }, context: ChangeContext) => Promise<string | null>,
): GovernedAction {
  const read = payloadReader(entry.schema)
  return {
    ...entry,
    apply: (trx, { targetId, payload }, context) => {
      if (entry.target !== null && targetId === null) throw badRequest('targetId', 'is required')
      if (entry.target === null && targetId !== null) throw badRequest('targetId', 'must be left out')
      return apply(trx, { targetId: targetId ?? '', payload: read(payload) }, context)
    },
  }
}

const reference = /^\$change:(0|[1-9]\d{0,2})$/

/** Applies the changes in their order; `$change:N` stands for the id that change N returned. */
export async function applyEach(
  trx: Trx,
  { actions }: Governed,
  changes: Change[],
  context: ChangeContext,
): Promise<void> {
  const results: (string | null)[] = []
  const resolve = (text: string) => {
    const match = reference.exec(text)
    if (match === null) return text
    const id = results[Number(match[1])]
    if (id == null) throw badRequest('', `${text} does not name an earlier change with a result`)
    return id
  }
  for (const [i, change] of changes.entries()) {
    const apply = async () => actions[change.action].apply(trx, replaceTexts(change, resolve) as Change, context)
    results.push(await inPart(`changes.${i}`, apply))
  }
}
