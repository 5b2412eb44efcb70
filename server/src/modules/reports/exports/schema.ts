import { type TSchema, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Timestamp } from '../../../http/schema.ts'
import { archiveType } from '../archives/making.ts'
import { reports, reportTypes } from '../catalogue/catalogue.ts'
import { languages } from '../documents/words.ts'
import { fileFormats } from '../files/formats.ts'
import { commonQuery, deliveryParameters } from '../requests/schema.ts'

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

export const AuditorArchiveCreation = Closed(
  {
    from: Type.String({
      maxLength: 40,
      description: 'Included. ISO 8601 timestamp, or a day, whose first instant in `timezone` is meant.',
      examples: ['2026-01-01'],
    }),
    to: commonQuery.to,
    timezone: commonQuery.timezone,
    language: Type.Optional(described(Enum(languages), 'Language of the readme and of the PDFs; defaults to English.')),
  },
  {
    $id: 'AuditorArchiveCreation',
    description: 'The period of an archive for an auditor.',
    examples: [{ from: '2026-01-01', to: '2027-01-01', timezone: 'Europe/Berlin' }],
  },
)

export const reportTypeParams = {
  type: described(Enum(reportTypes), 'Type of the report.'),
}

export const ReportExportOrder = Closed({ id: Id }, { $id: 'ReportExportOrder' })

export const ReportExport = Closed(
  {
    id: Id,
    type: described(
      Enum([...reportTypes, archiveType]),
      'Type of the report; `auditor_archive` for an archive for an auditor.',
    ),
    format: described(Enum([...fileFormats, 'zip']), 'Type of the file; `zip` for an archive for an auditor.'),
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
  {
    $id: 'ReportExport',
    description: 'A report, or an archive for an auditor, that is written to a file in the background.',
  },
)

export const reportExportComponents = [ReportExportCreation, AuditorArchiveCreation, ReportExportOrder, ReportExport]
