import type { Static } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, type FieldFault, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { DraftPolicy, Drafts } from '../decisions/decide.ts'
import { listGroupsAmong } from '../policy-groups/memberships.ts'
import type { DraftPolicies } from './form-schema.ts'
import { draftOf, findMissingReferences, findPolicyFaults, toRules } from './policy-draft.ts'
import { findPolicyIds } from './queries.ts'

type DraftBody = Static<typeof DraftPolicies>

/**
 * Returns the drafts of a request: `policies`, which replace the saved policies, or `draft`, which names its mode. `path` is
 * their path within the request.
 *
 * @throws 400 when the request has both fields or neither
 */
export function oneOfDrafts(body: DraftFields): { draft: DraftBody; path: string } {
  const found = draftsIn(body)
  if (found === null) throw badRequest('policies', 'is required, unless draft is set')
  return found
}

type DraftFields = { policies?: DraftBody['policies']; draft?: DraftBody }

/** As `oneOfDrafts`; null when the request has no drafts. */
export function draftsIn({ policies, draft }: DraftFields): { draft: DraftBody; path: string } | null {
  if (policies !== undefined && draft !== undefined) throw badRequest('policies', 'cannot be combined with draft')
  if (policies !== undefined) return { draft: { mode: 'replace', policies }, path: 'policies' }
  return draft === undefined ? null : { draft, path: 'draft.policies' }
}

/**
 * Checks the drafts of a request like policies, and returns them. A draft with the code of a saved policy replaces that policy
 * and has its id.
 *
 * @throws 400 naming every fault by its path within the request
 */
export async function readDrafts(
  db: Db | Trx,
  vaultId: string,
  { mode, policies: bodies }: DraftBody,
  { now, path }: { now: Date; path: string },
): Promise<Drafts> {
  const groups = await listGroupsAmong(db, vaultId, [...new Set(bodies.map(({ groupId }) => groupId))])
  const codes = bodies.map(({ code }) => code)
  const idByCode = await findPolicyIds(db, vaultId, codes)
  const faults: FieldFault[] = []
  const policies: DraftPolicy[] = []
  for (const [i, { groupId, ...body }] of bodies.entries()) {
    const draft = draftOf(body)
    const found = findPolicyFaults(draft)
    if (!groups.has(groupId)) found.push({ field: 'groupId', message: 'is not a policy group of the vault' })
    const first = codes.indexOf(body.code)
    if (first !== i) found.push({ field: 'code', message: `is the same as ${path}.${first}.code` })
    // The form of references is checked before they are looked up.
    if (found.length === 0) found.push(...(await findMissingReferences(db, vaultId, draft)))
    faults.push(...found.map(({ field, message }) => ({ field: `${path}.${i}.${field}`, message })))
    const { code, name, actionType, effect, blockReason, approvalThreshold, adminBypass } = draft
    policies.push({
      ...{ id: idByCode.get(code) ?? newId(now), groupId, code, name, actionType, effect, blockReason },
      ...{ approvalThreshold, adminBypass, allowInitiatorApproval: draft.allowInitiatorApproval },
      enabled: draft.enabled,
      rules: toRules(draft.rules, now),
      approvers: draft.approvers.map(({ userId, groupId, ...approver }) => ({ ...approver, id: (userId ?? groupId)! })),
    })
  }
  if (faults.length > 0) throw faulty(faults)
  return { mode, policies }
}
