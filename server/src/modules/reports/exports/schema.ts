import { type TSchema, Type } from 'typebox'
import { Closed, Enum, Id, Nullable, Timestamp } from '../../../http/schema.ts'
import { fileFormats } from '../files/formats.ts'
import { reports, reportTypes } from '../reports/catalogue.ts'
import { deliveryParameters } from '../reports/query-schema.ts'

type WithProperties = TSchema & { properties: Record<string, TSchema> }

/** The parameters of all reports; the schema of a report decides which of them it takes. */
const parameters = Object.fromEntries(
  reports
    .flatMap(({ query }) => Object.entries((query as unknown as WithProperties).properties))
    .filter(([name]) => !deliveryParameters.includes(name))
    .map(([name, schema]) => [name, Type.Optional(schema)]),
)

export const ReportExportCreation = Closed(
  { ...(parameters as Record<never, never>), format: Enum(fileFormats) },
  {
    $id: 'ReportExportCreation',
    description: 'The query parameters of the report, lists as arrays, and the format of the file.',
  },
)

export const ReportTypeParams = Closed({
  code: Type.String({ minLength: 1, maxLength: 63, examples: ['main-vault'] }),
  type: Enum(reportTypes),
})

export const ReportExportOrder = Closed({ id: Id }, { $id: 'ReportExportOrder' })

export const ReportExport = Closed(
  {
    id: Id,
    type: Enum(reportTypes),
    format: Enum(fileFormats),
    parameters: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The parameters of the order, with the interval filled in.',
      examples: [{ addressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h', from: '2026-01-01T00:00:00.000Z' }],
    }),
    state: Enum(['queued', 'running', 'done', 'failed', 'expired']),
    percent: Type.Integer({ minimum: 0, maximum: 100, examples: [40] }),
    failure: Nullable(Type.String({ description: 'Why the export failed.', examples: ['Address not found'] })),
    download: Nullable(
      Type.String({
        description: 'Path of the file, while there is one.',
        examples: ['/api/v1/vaults/main-vault/reports/exports/cmi8h2k1p0a1b2c3d4e5f6g7h/download'],
      }),
    ),
    sizeBytes: Nullable(Type.Integer({ minimum: 0, examples: [18_230] })),
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    expiresAt: Timestamp,
  },
  { $id: 'ReportExport' },
)

export const reportExportComponents = [ReportExportCreation, ReportExportOrder, ReportExport]
