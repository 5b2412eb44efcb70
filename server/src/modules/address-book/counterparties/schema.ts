import { Type } from 'typebox'
import {
  Closed,
  Code,
  Color,
  Description,
  described,
  Emoji,
  Enum,
  GivenId,
  Id,
  Name,
  Nullable,
  pageQuery,
  Ref,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import { addressesPerCounterpartyMax, addressLengthMax, labelLengthMax } from '../../../lib/limits.ts'
import { counterpartyKinds } from '../../rules/selectors/facts.ts'

const Label = Type.String({ maxLength: labelLengthMax, examples: ['Hot wallet'] })
const Slug = Type.String({ minLength: 1, maxLength: 64, description: 'Slug of the network.', examples: ['ethereum'] })
const OnchainText = Type.String({
  minLength: 1,
  maxLength: addressLengthMax,
  examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
})

export const CounterpartyAddress = Closed(
  { id: Id, network: Slug, address: OnchainText, label: Nullable(Label), createdAt: Timestamp },
  { $id: 'CounterpartyAddress' },
)

export const Counterparty = Closed(
  {
    id: Id,
    vaultId: Id,
    name: Name,
    kind: described(Enum(counterpartyKinds), 'Kind of the counterparty; policies and reports can select by it.'),
    description: Nullable(Description),
    avatarUri: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
    archivedAt: Nullable(Timestamp),
    version: Type.Integer({ minimum: 1, description: 'Increased by one with every change.', examples: [1] }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    groups: described(Type.Array(Closed({ id: Id, code: Code, name: Name })), 'The counterparty groups that it is in.'),
    addresses: described(Type.Array(Ref(CounterpartyAddress)), 'The on-chain addresses by which it is recognized.'),
  },
  { $id: 'Counterparty', description: 'A person or organisation outside the vault, identified by on-chain addresses.' },
)

/** The counterparty as it was when the operation was created. Later changes of the address book do not affect it. */
export const CounterpartySnapshot = Closed(
  { id: Id, name: Name, kind: described(Enum(counterpartyKinds), 'Kind of the counterparty.') },
  {
    $id: 'CounterpartySnapshot',
    description:
      'A counterparty as it was when the operation was created; later changes of the address book do not affect it.',
  },
)

export const counterpartyComponents = [CounterpartyAddress, Counterparty, CounterpartySnapshot]

export const NewCounterpartyAddress = Closed({
  network: Slug,
  address: OnchainText,
  label: Type.Optional(Nullable(Label)),
})

export const looks = {
  description: Type.Optional(Nullable(Description)),
  avatarUri: Type.Optional(Nullable(Uri)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
}
const NewAddresses = Type.Optional(Type.Array(NewCounterpartyAddress, { maxItems: addressesPerCounterpartyMax }))

/** The body of the route and the payload of `counterparty_create`. */
export const CounterpartyCreation = Closed({
  name: Name,
  kind: described(Enum(counterpartyKinds), 'Kind of the counterparty; policies and reports can select by it.'),
  ...looks,
  addresses: described(NewAddresses, 'The on-chain addresses by which it is recognized.'),
})

/** The body of the route and the payload of `counterparty_update`: fields to set, addresses to remove and to add. */
export const CounterpartyUpdate = Closed({
  name: Type.Optional(Name),
  kind: Type.Optional(
    described(Enum(counterpartyKinds), 'Kind of the counterparty; policies and reports can select by it.'),
  ),
  ...looks,
  addAddresses: described(NewAddresses, 'On-chain addresses to add.'),
  removeAddressIds: Type.Optional(
    described(
      Type.Array(GivenId, { maxItems: addressesPerCounterpartyMax, uniqueItems: true }),
      'Identifiers of the addresses to remove.',
    ),
  ),
})

/** The payload of an action that needs only its target. */
export const NoPayload = Closed({})

export const CounterpartyQuery = Closed({
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Part of a name, an address or a label.' }),
  ),
  kind: Type.Optional(described(Enum(counterpartyKinds), 'Restricts the list to counterparties of this kind.')),
  groupId: Type.Optional(described(GivenId, 'Restricts the list to members of this counterparty group.')),
  archived: Type.Optional(
    Type.Boolean({
      description: 'True for archived counterparties only, false for active ones only; both by default.',
      examples: [false],
    }),
  ),
  ...pageQuery,
})

export const counterpartyAddressParams = {
  id: described(GivenId, 'Identifier of the counterparty.'),
  addressId: described(GivenId, 'Identifier of the address of the counterparty.'),
}
