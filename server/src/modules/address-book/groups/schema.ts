import { Type } from 'typebox'
import {
  Closed,
  Code,
  Color,
  Description,
  described,
  Emoji,
  GivenId,
  Id,
  Name,
  Nullable,
  pageQuery,
  Ref,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import { CounterpartySnapshot, looks } from '../counterparties/schema.ts'

export const CounterpartyGroup = Closed(
  {
    id: Id,
    vaultId: Id,
    code: Code,
    name: Name,
    description: Nullable(Description),
    avatarUri: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
    archivedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    _count: Closed({
      memberships: described(Type.Integer({ minimum: 0, examples: [3] }), 'Number of counterparties in the group.'),
    }),
  },
  { $id: 'CounterpartyGroup', description: 'A group of counterparties.' },
)

export const CounterpartyGroupMembership = Closed(
  {
    groupId: described(Id, 'Identifier of the counterparty group.'),
    counterpartyId: Id,
    createdAt: Timestamp,
    counterparty: Ref(CounterpartySnapshot),
  },
  { $id: 'CounterpartyGroupMembership' },
)

export const counterpartyGroupComponents = [CounterpartyGroup, CounterpartyGroupMembership]

/** The body of the route and the payload of `counterparty_group_create`. */
export const CounterpartyGroupCreation = Closed({ code: Code, name: Name, ...looks })

/** The body of the route and the payload of `counterparty_group_update`. The code cannot change, because others refer to it. */
export const CounterpartyGroupUpdate = Closed({ name: Type.Optional(Name), ...looks })

/** The payload of `counterparty_group_add` and `counterparty_group_remove`, and the body of the route that adds a member. */
export const CounterpartyGroupMember = Closed({ counterpartyId: GivenId })

export const CounterpartyGroupQuery = Closed({
  archived: Type.Optional(
    Type.Boolean({
      description: 'True for archived groups only, false for active ones only; both by default.',
      examples: [false],
    }),
  ),
  ...pageQuery,
})

export const counterpartyGroupMemberParams = {
  id: described(GivenId, 'Identifier of the counterparty group.'),
  counterpartyId: GivenId,
}
