import { type Static, Type } from 'typebox'
import {
  Closed,
  described,
  Email,
  Enum,
  Id,
  MemberProfile,
  Name,
  Nullable,
  pageQuery,
  Timestamp,
  userKinds,
} from '../../../http/schema.ts'
import { outlooks } from '../../rules/decisions/outlook.ts'
import { MemberUserId } from '../../rules/policy-groups/schema.ts'
import { type ActionType, actionTypes } from '../../rules/selectors/facts.ts'
import { Search } from '../users/schema.ts'

const groups = Type.Array(Closed({ id: Id, name: Name }), {
  description:
    'The groups of the vault that list the member, by name. Every member is in `everyone` too, which is left out.',
})
const Outlook = described(Enum(outlooks), 'Decision of the policies on the action.')
const isAdmin = Type.Boolean({ description: 'True if the member administers the vault.', examples: [false] })
const isAuditor = Type.Boolean({
  description: 'True if the member is an auditor, who reads the whole vault and changes nothing in it.',
  examples: [false],
})

export const Member = Closed(
  {
    ...MemberProfile.properties,
    email: described(Nullable(Email), 'E-mail address; null for a service.'),
    groups,
    isAdmin,
    isAuditor,
    lastSeenAt: described(
      Nullable(Timestamp),
      'Last use of a session, to within an hour. Null for a service, for a user without a session, and for callers who ' +
        'are neither administrators nor auditors of the vault.',
    ),
  },
  { $id: 'Member', description: 'A person or service that is in a group of the vault and can use it.' },
)
export type Member = Static<typeof Member>

const may = Closed(
  Object.fromEntries(actionTypes.map((action) => [action, Outlook])) as Record<ActionType, typeof Outlook>,
  {
    description:
      'Decision of the policies on each action of the caller: `allow`, `approval` (after votes), `deny`, or `depends` if ' +
      'the decision depends on more than the caller, such as the amount. Rights on addresses come in addition.',
  },
)
export const Membership = Closed(
  { userId: Id, groups, isAdmin, isAuditor, may },
  { $id: 'Membership', description: 'Roles of the caller in a vault, and the actions that the policies permit.' },
)
export type Membership = Static<typeof Membership>

export const vaultMemberParams = {
  userId: described(MemberUserId, 'Identifier of the user.'),
}

export const MemberQuery = Closed({
  ...pageQuery,
  search: Search,
  kind: Type.Optional(described(Enum(userKinds), 'Restricts the list to people or to services.')),
})
export type MemberQuery = Static<typeof MemberQuery>

export const memberComponents = [Member, Membership]
