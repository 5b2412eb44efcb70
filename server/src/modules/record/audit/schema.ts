import { Type } from 'typebox'
import { Closed, described, Id, Nullable, pageQuery, Timestamp } from '../../../http/schema.ts'
import { membershipUserIdLengthMax } from '../../../lib/limits.ts'

export const AuditRecord = Closed(
  {
    id: Id,
    actorId: Nullable(
      Type.String({
        description: 'The user or service that acted; null for the service itself.',
        examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
      }),
    ),
    action: Type.String({ description: 'The event, as `noun.verb`.', examples: ['policy.updated'] }),
    targetType: described(Type.String({ examples: ['policy'] }), 'Kind of what was acted on.'),
    targetId: described(
      Nullable(Type.String({ examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })),
      'Identifier of what was acted on; null if the event is not about one thing.',
    ),
    details: described(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        examples: [{ code: 'treasury', enabled: true }],
      }),
      'What the event was about, such as the changed fields; its members depend on `action`. Secrets are never in it.',
    ),
    createdAt: Timestamp,
    hash: Type.String({
      description: 'SHA-256 of the content of the record, in hexadecimal digits.',
      pattern: '^[0-9a-f]{64}$',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    sealSequence: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'The seal that chains this record; null in its first seconds.',
        examples: [42],
      }),
    ),
  },
  { $id: 'AuditRecord', description: 'One record of the audit log of a vault or of the platform.' },
)

const boundText = 'Inclusive: an ISO 8601 timestamp, or YYYY-MM-DD for a whole UTC day.'

export const AuditLogQuery = Closed({
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: membershipUserIdLengthMax,
      description: 'Id of the user or service that acted.',
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  ),
  action: Type.Optional(
    described(
      Type.String({ minLength: 1, maxLength: 100, examples: ['policy.updated'] }),
      'Restricts the list to events of this name.',
    ),
  ),
  target: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: membershipUserIdLengthMax,
      description: 'Id of what was acted on.',
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  ),
  from: Type.Optional(Type.String({ maxLength: 40, description: boundText, examples: ['2026-01-01'] })),
  to: Type.Optional(Type.String({ maxLength: 40, description: boundText, examples: ['2026-01-31'] })),
  ...pageQuery,
})

export const auditComponents = [AuditRecord]
