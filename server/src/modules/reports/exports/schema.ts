import { type TSchema, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Timestamp } from '../../../http/schema.ts'
import { reports, reportTypes } from '../catalogue/catalogue.ts'
import { fileFormats } from '../files/formats.ts'
import { deliveryParameters } from '../requests/schema.ts'

type WithProperties = TSchema & { properties: Record<string, TSchema> }

/** The parameters of all reports; the schema of each report decides which of them it takes. */
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
    examples: [
      {
        addressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
        from: '2026-01-01',
        to: '2026-02-01',
        timezone: 'Europe/Berlin',
        format: 'csv',
      },
    ],
  },
)

export const reportTypeParams = {
  type: described(Enum(reportTypes), 'Type of the report.'),
}

export const ReportExportOrder = Closed({ id: Id }, { $id: 'ReportExportOrder' })

export const ReportExport = Closed(
  {
    id: Id,
    type: described(Enum(reportTypes), 'Type of the report.'),
    format: described(Enum(fileFormats), 'Type of the file.'),
    parameters: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The parameters of the order, with the interval filled in.',
      examples: [{ addressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h', from: '2026-01-01T00:00:00.000Z' }],
    }),
    state: described(
      Enum(['queued', 'running', 'done', 'failed', 'expired']),
      '`queued` and `running` until the file is complete; `expired` after `expiresAt`.',
    ),
    percent: described(Type.Integer({ minimum: 0, maximum: 100, examples: [40] }), 'Progress in per cent.'),
    failure: Nullable(Type.String({ description: 'Why the export failed.', examples: ['Address not found'] })),
    download: Nullable(
      Type.String({
        description: 'Path of the file, while there is one.',
        examples: ['/api/v1/vaults/main-vault/reports/exports/cmi8h2k1p0a1b2c3d4e5f6g7h/download'],
      }),
    ),
    sizeBytes: described(
      Nullable(Type.Integer({ minimum: 0, examples: [18_230] })),
      'Size of the file in bytes; null until it is done.',
    ),
    sha256: Nullable(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          'SHA-256 of the file in hexadecimal digits, which is kept longer than the file; null until it is done, and ' +
          'for files of earlier versions, which kept no hash.',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    ),
    createdAt: Timestamp,
    startedAt: described(Nullable(Timestamp), 'Instant at which the work began, in UTC; null before.'),
    finishedAt: described(Nullable(Timestamp), 'Instant at which the export was done or failed, in UTC; null before.'),
    expiresAt: described(Timestamp, 'Instant at which the file is deleted, in UTC.'),
  },
  { $id: 'ReportExport', description: 'A report that is written to a file in the background.' },
)

export const reportExportComponents = [ReportExportCreation, ReportExportOrder, ReportExport]
