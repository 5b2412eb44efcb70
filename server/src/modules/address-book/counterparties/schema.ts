import { Type } from 'typebox'
import {
  Closed,
  Code,
  Color,
  Description,
  Emoji,
  Enum,
  Id,
  Name,
  Nullable,
  pageQuery,
  Ref,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import { addressesPerCounterpartyMax, addressLengthMax, labelLengthMax } from '../../../lib/limits.ts'
import { counterpartyKinds } from '../../rules/policies/facts.ts'

const Key = Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })
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
    kind: Enum(counterpartyKinds),
    description: Nullable(Description),
    avatarUri: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
    archivedAt: Nullable(Timestamp),
    version: Type.Integer({ minimum: 1, description: 'Increased by one with every change.', examples: [1] }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    groups: Type.Array(Closed({ id: Id, code: Code, name: Name })),
    addresses: Type.Array(Ref(CounterpartyAddress)),
  },
  { $id: 'Counterparty', description: 'A person or organisation outside the vault, identified by on-chain addresses.' },
)

/** The other side as it was when the operation was created; later changes of the address book do not affect it. */
export const CounterpartySnapshot = Closed(
  { id: Id, name: Name, kind: Enum(counterpartyKinds) },
  { $id: 'CounterpartySnapshot' },
)

export const counterpartyComponents = [CounterpartyAddress, Counterparty, CounterpartySnapshot]

export const NewCounterpartyAddress = Closed({
  network: Slug,
  address: OnchainText,
  label: Type.Optional(Nullable(Label)),
})

const looks = {
  description: Type.Optional(Nullable(Description)),
  avatarUri: Type.Optional(Nullable(Uri)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
}
const NewAddresses = Type.Optional(Type.Array(NewCounterpartyAddress, { maxItems: addressesPerCounterpartyMax }))

/** The body of the route and the payload of `counterparty_create`. */
export const CounterpartyCreation = Closed({
  name: Name,
  kind: Enum(counterpartyKinds),
  ...looks,
  addresses: NewAddresses,
})

/** The body of the route and the payload of `counterparty_update`: fields to set, addresses to remove and to add. */
export const CounterpartyUpdate = Closed({
  name: Type.Optional(Name),
  kind: Type.Optional(Enum(counterpartyKinds)),
  ...looks,
  addAddresses: NewAddresses,
  removeAddressIds: Type.Optional(Type.Array(Key, { maxItems: addressesPerCounterpartyMax, uniqueItems: true })),
})

/** The payload of an action that needs no more than its target. */
export const NoPayload = Closed({})

export const CounterpartyQuery = Closed({
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Part of a name, an address or a label.' }),
  ),
  kind: Type.Optional(Enum(counterpartyKinds)),
  groupId: Type.Optional(Key),
  archived: Type.Optional(Type.Boolean({ description: 'Archived and active ones by default.', examples: [false] })),
  ...pageQuery,
})

export const CounterpartyAddressParams = Closed({
  code: Type.String({ minLength: 1, maxLength: 63, examples: ['main-vault'] }),
  id: Key,
  addressId: Key,
})
