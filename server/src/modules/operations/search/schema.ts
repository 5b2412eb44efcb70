import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Nullable, Ref } from '../../../http/schema.ts'
import { searchResultsMax, searchTextLengthMax, searchTextLengthMin } from '../../../lib/limits.ts'

/** The kinds of results, in their order. */
const foundKinds = [
  'address',
  'address_group',
  'counterparty',
  'transfer',
  'deposit',
  'policy',
  'person',
  'category',
] as const
export type FoundKind = (typeof foundKinds)[number]

export const FoundItem = Closed(
  {
    kind: described(Enum(foundKinds), 'Kind of the object; `person` is a person or a service of the vault.'),
    id: Type.String({ examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
    title: Type.String({
      description: 'Name of the object; the amount of a transfer or deposit; an address itself if it has no label.',
      examples: ['Payroll'],
    }),
    subtitle: Nullable(
      Type.String({
        description: 'A distinguishing value: an on-chain address, a hash or a code.',
        examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
      }),
    ),
  },
  { $id: 'FoundItem', description: 'An object of a vault that a search found.' },
)
export type FoundItem = Static<typeof FoundItem>

export const SearchResults = Closed(
  {
    items: Type.Array(Ref(FoundItem), {
      maxItems: searchResultsMax,
      description:
        'Objects found by id, hash or on-chain address, then objects found by name; each group in the order of the kinds.',
    }),
  },
  { $id: 'SearchResults' },
)

export const SearchQuery = Closed({
  q: Type.String({
    minLength: searchTextLengthMin,
    maxLength: searchTextLengthMax,
    pattern: '\\S.*\\S',
    description:
      'An id, a transaction hash, an on-chain address or its first six characters or more, or a part of a name, label, key ' +
      'or code, regardless of case.',
    examples: ['payroll'],
  }),
})

export const searchComponents = [FoundItem, SearchResults]
