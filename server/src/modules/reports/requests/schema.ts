import { type Static, type TSchema, Type } from 'typebox'
import { Closed, described, Enum, Id, IncludeShared, Nullable, Ref, Timestamp } from '../../../http/schema.ts'
import { decimalPattern } from '../../../lib/money.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import type { ColumnKind, Wording } from '../documents/document.ts'
import { languages } from '../documents/words.ts'
import { fileFormats } from '../files/formats.ts'
import { feeKinds } from './fee-kinds.ts'

/** Schemas that the answers of several reports share. */

export const dateBases = ['createdAt', 'blockchainAt', 'confirmedAt', 'feeBookedAt'] as const
export const classifications = ['current', 'historical'] as const

/** The statuses in the order of a report. */
export const reportedStatuses = [
  'awaiting_approval',
  'pending',
  'confirmed',
  'rejected',
  'cancelled',
  'failed',
] as const satisfies readonly OperationStatus[]

const columnKind = Symbol('kind of column')

/** Marks a schema object with the kind of column in which a file shows its values. */
export function shownAs<Schema extends TSchema>(kind: ColumnKind, schema: Schema): Schema {
  // The mark is not enumerable: it is not a keyword of JSON Schema, and a schema with another description keeps it.
  return Object.defineProperty(schema, columnKind, { value: kind })
}

/** Returns the kind that a schema was marked with; undefined when the type is enough. */
export const markedKindOf = (schema: object): ColumnKind | undefined =>
  (schema as { [columnKind]?: ColumnKind })[columnKind]

const columnWording = Symbol('wording of column')

/** Marks a schema object whose texts pages show in words, although it is not an enumeration. */
export function saidAs<Schema extends TSchema>(wording: Wording, schema: Schema): Schema {
  return Object.defineProperty(schema, columnWording, { value: wording })
}

/** Returns the wording that the schema was marked with. */
export const markedWordingOf = (schema: object): Wording | undefined =>
  (schema as { [columnWording]?: Wording })[columnWording]

export const Text = (example: string) => Type.String({ examples: [example] })
export const Count = Type.Integer({ minimum: 0, examples: [12] })
export const Amount = shownAs('amount', Type.String({ description: 'Decimal, in token units.', examples: ['1250.5'] }))
export const Usd = shownAs('usd', Type.String({ pattern: '^-?(0|[1-9][0-9]*)\\.[0-9]{2}$', examples: ['1250.50'] }))
export const Percent = shownAs('percent', Type.Number({ examples: [12.5] }))
export const Seconds = Nullable(Type.Number({ examples: [5400] }))
/** An amount whose unit is in another member of the object. */
export const Figure = (example: string) => shownAs('amount', Text(example))

export const ReportHeader = Closed(
  {
    id: described(Id, 'Identifier of this answer.'),
    type: described(Text('address_activity'), 'Type of the report.'),
    from: described(Timestamp, 'Start of the interval, included.'),
    to: described(Timestamp, 'End of the interval, excluded.'),
    timezone: described(Text('Europe/Berlin'), 'IANA time zone whose midnights bound days, weeks and months.'),
    dateBasis: Enum(dateBases),
    baseCurrency: described(Text('USD'), 'Currency of the values; always `USD`.'),
    classificationMode: described(
      Enum(classifications),
      'Source of counterparties and folders: the present ones (`current`), or those at the creation of each ' +
        'operation (`historical`).',
    ),
    dataCutoff: described(Timestamp, 'Instant of the snapshot from which all figures come, in UTC.'),
    schemaVersion: described(Text('1'), 'Version of this format.'),
    generatedAt: described(Timestamp, 'Instant at which the report was computed, in UTC.'),
    generatedById: described(
      Text('cmi8h2k1p0a1b2c3d4e5f6g7h'),
      'Identifier of the requester, a user or service. The report contains only objects that the requester may see.',
    ),
  },
  { $id: 'ReportHeader', description: 'Type of the report, its interval, and the rules of its computation.' },
)

export const asset = {
  tokenId: Id,
  assetCode: Text('USDT'),
  assetSymbol: Text('₮'),
  network: described(Text('ethereum'), 'Slug of the network of the token.'),
  contractAddress: Nullable(Text('0xdAC17F958D2ee523a2206206994597C13D831ec7')),
}
export const AssetAmount = Closed({ ...asset, amount: Amount }, { $id: 'AssetAmount' })
export const AssetAmounts = Type.Array(Ref(AssetAmount))

export const usd = { incomingUsd: Usd, outgoingUsd: Usd, grossTurnoverUsd: Usd, netFlowUsd: Usd }
export const counts = { operationsCount: Count, incomingCount: Count, outgoingCount: Count }
export const named = Nullable(Closed({ id: Id, name: Text('Northwind Trading') }))

export const Profile = Closed({
  id: Id,
  name: Nullable(Text('Treasurer')),
  username: Nullable(Text('treasurer')),
  image: Nullable(Text('https://example.org/portrait.png')),
  color: Nullable(Text('#1d4ed8')),
  emoji: Nullable(Text('🏦')),
})
export type Profile = Static<typeof Profile>

export const approvalSeconds = {
  averageApprovalSeconds: Seconds,
  medianApprovalSeconds: Seconds,
  maximumApprovalSeconds: Seconds,
}

/** The components that the answers of all reports refer to, in the order of the documentation. */
export const sharedComponents = [ReportHeader, AssetAmount]

/** Query parameters that several reports take. */

/** Parameters about the delivery of an answer, not about its content. */
export const deliveryParameters: readonly string[] = ['format', 'limit', 'cursor']

/** A list of values: separated by commas, as repeated parameters, or both. */
export const List = (
  description: string,
  example: string,
  item: TSchema = Type.String({ minLength: 1, maxLength: 2_000, examples: [example] }),
) =>
  Type.Optional(
    Type.Unsafe<string[]>(
      Type.Array(item, { maxItems: 200, description: `${description} Comma-separated or repeated.` }),
    ),
  )

export const RequiredKey = (description: string) => Type.String({ minLength: 1, maxLength: 128, description })
export const Key = (description: string) => Type.Optional(RequiredKey(description))
const Bound = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      description: `${description} ISO 8601 timestamp, or a day, which stands for its first instant in \`timezone\`.`,
      examples: [example],
    }),
  )
const BoundAmount = Type.Optional(
  Type.String({ pattern: decimalPattern, description: 'In token units.', examples: ['100'] }),
)

/** The parameters that every report takes. */
export const commonQuery = {
  from: Bound('Included; defaults to 30 days before `to`.', '2026-01-01'),
  to: Bound('Excluded; defaults to now.', '2026-02-01'),
  timezone: Type.Optional(
    Type.String({ maxLength: 64, description: 'IANA time zone; defaults to UTC.', examples: ['Europe/Berlin'] }),
  ),
  baseCurrency: Type.Optional(Type.String({ minLength: 1, maxLength: 16, examples: ['USD'] })),
  format: Type.Optional(Enum(['json', ...fileFormats])),
  language: Type.Optional(
    described(Enum(languages), 'Language of a PDF, with its form of numbers and days; defaults to English.'),
  ),
  tables: Type.Optional(
    described(
      Enum(['main', 'all']),
      'Tables of a CSV: `main`, the default, makes one file if the report has a main table; `all` makes an archive ' +
        'with every table.',
    ),
  ),
  userId: Key('Administrators only: restricts the report to this user.'),
  includeShared: IncludeShared,
}

/** The parameters that choose operations. */
export const filters = {
  dateBasis: Type.Optional(Enum(dateBases)),
  statuses: List('Restricts the report to these statuses; sums then include all of them.', 'confirmed'),
  flowTypes: List('Restricts the report to these flow types: internal, external.', 'external'),
  tokenIds: List('Ids of tokens.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  assets: List('Codes of tokens.', 'USDT'),
  networkIds: List('Ids or slugs of networks.', 'ethereum'),
  ownAddressIds: List('Ids of the addresses of the vault that sent or received.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  addressIds: List('The same as `ownAddressIds`; if a request has both, both apply.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  folderIds: List('Ids of folders, by `folderClassification`.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  counterpartyIds: List('Ids of counterparties, by `counterpartyClassification`.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  counterpartyGroupIds: List('Ids of counterparty groups; the current members count.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  counterpartyAddressIds: List('Ids of addresses of counterparties.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  categories: List('Keys of categories, with the meaning of `category` in the history.', 'payroll'),
  categoryKeys: List('Keys of categories; `categoryField` then tests only assignments of these categories.', 'payroll'),
  categoryField: List(
    'Conditions `key:value`, several values separated by `|`; one assignment must meet all of them.',
    'cost_center:marketing|sales',
  ),
  initiatorIds: List('Ids of initiators of transfers.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  approvalPolicyIds: List(
    'Ids of policies that required votes on the transfer or its payout; waived votes do not count.',
    'cmi8h2k1p0a1b2c3d4e5f6g7h',
  ),
  feePayerIds: List('Ids of the addresses of the vault that paid the network fee.', 'cmi8h2k1p0a1b2c3d4e5f6g7h'),
  feeKinds: List(`Purposes of the network fee: ${feeKinds.join(', ')}.`, 'payment'),
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
