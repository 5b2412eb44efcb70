import { type Static, type TSchema, Type } from 'typebox'
import { Closed, Enum, Id, Nullable, Ref, Timestamp } from '../../../http/schema.ts'
import type { ColumnKind } from '../files/document.ts'

/** Schemas that the answers of several reports share. */

export const dateBases = ['createdAt', 'blockchainAt', 'confirmedAt'] as const
export const classifications = ['current', 'historical'] as const

const columnKinds = new WeakMap<object, ColumnKind>()

/** Marks a schema object with the kind of column in which a file shows its values. */
export function shownAs<Schema extends TSchema>(kind: ColumnKind, schema: Schema): Schema {
  columnKinds.set(schema, kind)
  return schema
}

/** The kind that a schema was marked with; undefined when the type is enough. */
export const markedKindOf = (schema: object): ColumnKind | undefined => columnKinds.get(schema)

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
    id: Id,
    type: Text('address_activity'),
    from: Timestamp,
    to: Timestamp,
    timezone: Text('Europe/Berlin'),
    dateBasis: Enum(dateBases),
    baseCurrency: Text('USD'),
    classificationMode: Enum(classifications),
    dataCutoff: Timestamp,
    schemaVersion: Text('1'),
    generatedAt: Timestamp,
    generatedById: Text('cmi8h2k1p0a1b2c3d4e5f6g7h'),
  },
  { $id: 'ReportHeader' },
)

export const asset = {
  tokenId: Id,
  assetCode: Text('USDT'),
  assetSymbol: Text('₮'),
  network: Text('ethereum'),
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
