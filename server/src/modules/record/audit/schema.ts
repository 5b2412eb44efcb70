import { Type } from 'typebox'
import { Closed, described, Id, Nullable, ProfileBeside, pageQuery, Timestamp } from '../../../http/schema.ts'
import { auditSealsPageMax, membershipUserIdLengthMax } from '../../../lib/limits.ts'
import { Hash, signedSeal } from '../seals/schema.ts'

export const AuditRecord = Closed(
  {
    id: Id,
    actorId: Nullable(
      Type.String({
        description: 'The user or service that acted; null for the service itself.',
        examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
      }),
    ),
    actor: ProfileBeside,
    action: Type.String({ description: 'The event, as `noun.verb`.', examples: ['policy.updated'] }),
    targetType: described(Type.String({ examples: ['policy'] }), 'Type of the object of the event.'),
    targetId: described(
      Nullable(Type.String({ examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })),
      'Identifier of the object of the event; null if the event has no single object.',
    ),
    details: described(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        examples: [{ code: 'treasury', enabled: true }],
      }),
      'Details of the event, such as the changed fields; the members depend on `action`. Details never contain secrets.',
    ),
    createdAt: Timestamp,
    content: Type.String({
      description:
        'The record exactly as it was hashed: canonical JSON of the fields above except `actor`, with its seal chain.',
      examples: ['{"action":"policy.updated","actorId":null,"chain":"platform"}'],
    }),
    hash: Hash('SHA-256 of `content` in UTF-8, in hexadecimal digits.'),
    sealSequence: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'Number of the seal that holds this record; null in its first seconds, until it is sealed.',
        examples: [42],
      }),
    ),
  },
  { $id: 'AuditRecord', description: 'One record of the audit log of a vault or of the platform.' },
)

const boundText = 'Inclusive: an ISO 8601 timestamp, or YYYY-MM-DD for a whole UTC day.'

const idFilter = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: membershipUserIdLengthMax,
      description,
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  )

export const AuditLogQuery = Closed({
  actor: idFilter('Id of the user or service that acted.'),
  action: Type.Optional(
    described(
      Type.String({ minLength: 1, maxLength: 100, examples: ['policy.updated'] }),
      'Restricts the list to events of this name.',
    ),
  ),
  target: idFilter('Id of the object of the event.'),
  from: Type.Optional(Type.String({ maxLength: 40, description: boundText, examples: ['2026-01-01'] })),
  to: Type.Optional(Type.String({ maxLength: 40, description: boundText, examples: ['2026-01-31'] })),
  ...pageQuery,
})

export const AuditSeal = Closed(
  {
    chain: Type.String({ description: 'Id of the vault, or `platform`.', examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
    sequence: Type.Integer({ minimum: 1, description: 'Number of the seal in its chain.', examples: [42] }),
    previousHash: Hash('Hash of the seal before this one; 64 zeros for the first seal.'),
    records: Type.Array(Closed({ id: Id, hash: Hash('Hash of the record.') }), {
      description: 'The records that the seal holds, in the order in which they are hashed.',
    }),
    sealedAt: described(Timestamp, 'Instant at which the seal was written, in UTC.'),
    ...signedSeal,
    hash: Hash('SHA-256 of the canonical JSON that docs/audit.md states.'),
  },
  {
    $id: 'AuditSeal',
    description: 'A seal of the seal chain of an audit log, with everything that its hash covers.',
  },
)

export const AuditSealQuery = Closed({
  sequence: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Restricts the list to the seal of this number.', examples: [42] }),
  ),
  ...pageQuery,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: auditSealsPageMax,
      default: auditSealsPageMax,
      description: 'Largest number of seals of a page; a seal may hold a thousand records.',
      examples: [10],
    }),
  ),
})

export const auditComponents = [AuditRecord, AuditSeal]
