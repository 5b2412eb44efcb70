import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { listAllCandidates } from '../../rules/decisions/candidates.ts'
import { outlooksOf } from '../../rules/decisions/outlook.ts'
import { governedIn } from '../../rules/governance/govern.ts'
import { removeFromVault } from '../../rules/policy-groups/actions.ts'
import { toMember } from './present.ts'
import { listGroupsOf, listMembers } from './queries.ts'
import { Member, MemberQuery, Membership, vaultMemberParams } from './schema.ts'

export function memberRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'People', { access: 'member', scopes: { reads: 'read', writes: 'rules' } })
  const governed = governedIn(deps)

  api.list('listMembers', '/vaults/:code/members', {
    summary: 'List members',
    description:
      'The people and services of the vault with their groups, the newest first. For members of the vault. Disabled ' +
      'users are left out, and so are members of groups who are not users of this service.',
    querystring: MemberQuery,
    item: Member,
    load: (db, { member, query }, page) => listMembers(db, member, query, page),
    present: toMember,
  })

  api.delete('removeMember', '/vaults/:code/members/:userId', {
    summary: 'Remove a member',
    description:
      'For administrators of the vault. Removes a person or service from all its groups at once, with their next ' +
      'request. What they made stays: revoke their service tokens and invitations. 404 for a user who is in no group; 409 for ' +
      'the last person among the administrators who can sign in and is not held.',
    access: 'administrator',
    errors: ['not_found', 'last_administrator', 'limit_reached', 'quorum_unreachable'],
    params: vaultMemberParams,
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params, ...by }) =>
      governed(trx, by, ['member_remove', params.userId, {}], () => removeFromVault(trx, params.userId, by)),
  })

  api.get('getMyMembership', '/vaults/:code/me', {
    summary: 'Get your membership',
    description:
      'The groups and the role of the caller in the vault, and what the policies decide about each action that the caller ' +
      'could request. Nothing is carried out.',
    answers: { 200: Membership },
    handler: async (db, { member }) => {
      const { userId, groupIds, isAdmin, isAuditor, vault } = member
      const groups = await listGroupsOf(db, vault.id, userId)
      const candidates = isAuditor ? [] : await listAllCandidates(db, vault.id, groupIds)
      return { userId, groups, isAdmin, isAuditor, may: outlooksOf(candidates, member) }
    },
  })
}
