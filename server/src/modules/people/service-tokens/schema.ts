import { type Static, Type } from 'typebox'
import { scopes } from '../../../access/scopes.ts'
import {
  Closed,
  described,
  Enum,
  GivenId,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { groupsPerInvitationMax, networksPerTokenMax } from '../../../lib/limits.ts'
import { ApprovalRequest } from '../../rules/approval-requests/schema.ts'
import { Fingerprint } from '../../rules/signatures/schema.ts'

const meaningOfScopes =
  '`read`: what changes nothing, except reports; `operate`: orders, cancellations, holds, addresses and the metadata of operations; ' +
  '`vote`: approving and rejecting; `write`: the address book and the profile of the service; `report`: reports, exports, evidence, ' +
  'the audit log and the verification of the ledger; `rules`: all that governance governs, and sharing.'

export const ServiceToken = Closed(
  {
    id: Id,
    userId: described(Id, 'Identifier of the user of the service, which audit records name as the actor.'),
    name: Name,
    createdById: Id,
    createdBy: ProfileBeside,
    createdAt: Timestamp,
    expiresAt: described(
      Nullable(Timestamp),
      'Instant from which the token is refused, in UTC; null if it does not expire.',
    ),
    lastUsedAt: described(
      Nullable(Timestamp),
      'Instant of a recent request with the token, in UTC; it is not updated at every request; null before the first.',
    ),
    lastUsedFrom: described(
      Nullable(Type.String({ examples: ['203.0.113.7'] })),
      'IP address that sent that request; null before the first.',
    ),
    networks: described(
      Nullable(Type.Array(Type.String({ examples: ['203.0.113.0/24'] }))),
      'Networks from which the token is accepted; null if it is accepted from every address.',
    ),
    scopes: Type.Array(Enum(scopes), {
      description: `Scopes of the token. A request that needs another scope is refused. ${meaningOfScopes}`,
    }),
    revokedAt: described(
      Nullable(Timestamp),
      'Instant at which the token was revoked, in UTC; null while it is valid.',
    ),
    token: Type.Optional(
      Type.String({
        description:
          'Shown once, in the answer that creates it; the answer to a repetition with the same Idempotency-Key leaves it out.',
        examples: ['srk_q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'],
      }),
    ),
  },
  { $id: 'ServiceToken', description: 'A token with which a program acts as a member of a vault.' },
)
export type ServiceToken = Static<typeof ServiceToken>

const PublicKey = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 256,
  description: 'The Ed25519 key, as SPKI in DER, in base64url.',
  examples: ['MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE'],
})

export const ServiceKey = Closed(
  {
    id: Id,
    name: Name,
    publicKey: PublicKey,
    fingerprint: Fingerprint,
    createdById: Id,
    createdAt: Timestamp,
    revokedAt: described(Nullable(Timestamp), 'Instant from which its signatures are refused, in UTC; null before.'),
  },
  { $id: 'ServiceKey', description: 'A key with which a service signs in a protected vault.' },
)
export type ServiceKey = Static<typeof ServiceKey>

export const AddServiceKey = Closed({ name: Name, publicKey: PublicKey })
export type AddServiceKey = Static<typeof AddServiceKey>

export const serviceKeyParams = {
  keyId: described(GivenId, 'Identifier of the key.'),
}

export const CreateServiceToken = Closed({
  name: Name,
  groupIds: Type.Array(Id, {
    minItems: 1,
    maxItems: groupsPerInvitationMax,
    uniqueItems: true,
    description: 'Policy groups of the vault that the service becomes a member of.',
  }),
  expiresAt: Type.Optional(
    described(
      Nullable(Type.String({ format: 'date-time', examples: ['2036-01-31T09:30:00.000Z'] })),
      'Instant from which the token is refused, in UTC; a token with null or without the field does not expire.',
    ),
  ),
  networks: Type.Optional(
    described(
      Nullable(
        Type.Array(Type.String({ minLength: 3, maxLength: 49, examples: ['203.0.113.0/24'] }), {
          minItems: 1,
          maxItems: networksPerTokenMax,
          uniqueItems: true,
        }),
      ),
      'Networks in CIDR notation from which the token is accepted; with null or without the field, every address.',
    ),
  ),
  scopes: Type.Optional(
    Type.Array(Enum(scopes), {
      minItems: 1,
      maxItems: scopes.length,
      uniqueItems: true,
      description:
        'Scopes of the token; without the field, all of them. A service can give only scopes that its own token has.',
    }),
  ),
})
/** The answer while the service waits for votes. */
export const WaitingServiceToken = Closed(
  {
    request: Ref(ApprovalRequest),
    token: Type.Optional(
      Type.String({
        description: 'Shown once; it is valid from the instant at which the request is applied.',
        examples: ['srk_q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'],
      }),
    ),
  },
  { $id: 'WaitingServiceToken' },
)
export type CreateServiceToken = Static<typeof CreateServiceToken>

export const serviceTokenComponents = [ServiceToken, WaitingServiceToken, ServiceKey]
