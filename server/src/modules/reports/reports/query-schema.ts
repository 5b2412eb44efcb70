import { type TSchema, Type } from 'typebox'
import { Closed, Enum, IncludeShared } from '../../../http/schema.ts'
import { decimalPattern } from '../../../lib/money.ts'
import { fileFormats } from '../files/formats.ts'
import { classifications, dateBases } from './schema.ts'

/** Query parameters that several reports take. */

/** Parameters about the delivery of an answer, not about its content. */
export const deliveryParameters: readonly string[] = ['format', 'limit', 'cursor']

/** A list of values: separated by commas, as repeated parameters, or both. */
export const List = (description: string, item: TSchema = Type.String({ minLength: 1, maxLength: 2_000 })) =>
  Type.Optional(
    Type.Unsafe<string[]>(
      Type.Array(item, { maxItems: 200, description: `${description} Comma-separated or repeated.` }),
    ),
  )

export const Key = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 128, description }))
const Bound = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      description: `${description} ISO 8601 timestamp, or a day, whose first instant in \`timezone\` is meant.`,
      examples: ['2026-01-01'],
    }),
  )
const BoundAmount = Type.Optional(
  Type.String({ pattern: decimalPattern, description: 'In token units.', examples: ['100'] }),
)

/** The parameters that every report takes. */
export const commonQuery = {
  from: Bound('Included; defaults to 30 days before `to`.'),
  to: Bound('Excluded; defaults to now.'),
  timezone: Type.Optional(
    Type.String({ maxLength: 64, description: 'IANA time zone; defaults to UTC.', examples: ['Europe/Berlin'] }),
  ),
  baseCurrency: Type.Optional(Type.String({ minLength: 1, maxLength: 16, examples: ['USD'] })),
  format: Type.Optional(Enum(['json', ...fileFormats])),
  userId: Key('Administrators only: restricts the report to this user.'),
  includeShared: IncludeShared,
}

/** The parameters that choose operations. */
export const filters = {
  dateBasis: Type.Optional(Enum(dateBases)),
  statuses: List('Restricts the report to these statuses; all of them are then included in sums.'),
  flowTypes: List('internal, external.'),
  tokenIds: List('Tokens.'),
  assets: List('Codes of tokens.'),
  networkIds: List('Ids or slugs of networks.'),
  ownAddressIds: List('Addresses of the vault that are the own side of the operations.'),
  addressIds: List('The same as `ownAddressIds`; if both are given, both apply.'),
  folderIds: List('Folders, by folderClassification.'),
  counterpartyIds: List('Counterparties, by counterpartyClassification.'),
  counterpartyGroupIds: List('Groups of counterparties, by membership now.'),
  counterpartyAddressIds: List('Addresses of counterparties.'),
  categories: List('Keys of categories, as `category` of the history.'),
  categoryKeys: List('Keys of categories; categoryField then looks into their assignments only.'),
  categoryField: List('Conditions `key:value`, several values separated by `|`; all hold for one assignment.'),
  initiatorIds: List('Initiators of transfers.'),
  minimumAmount: BoundAmount,
  maximumAmount: BoundAmount,
  includeInternal: Type.Optional(
    Type.Boolean({ description: 'false leaves out operations between addresses of the vault.', examples: [true] }),
  ),
  counterpartyClassification: Type.Optional(Enum(classifications)),
  folderClassification: Type.Optional(Enum(classifications)),
}

export const BreakdownIgnored = Type.Optional(
  Type.Unsafe<'owner'>(Type.String({ enum: ['owner'], description: 'Accepted and ignored.', examples: ['owner'] })),
)

export const FilterQuery = Closed({ ...commonQuery, ...filters })
