import { type Static, Type } from 'typebox'
import { Closed, described, Id, Name, Nullable, Ref, Timestamp, VaultCode } from '../../../http/schema.ts'
import { bytes, Fingerprint } from '../../rules/signatures/schema.ts'

/** COSE: EdDSA (Ed25519) and ES256 (P-256 with SHA-256). */
export const algorithms = [-8, -7] as const

const CredentialId = bytes('Id of the credential', 1364, 'AQIDBAUGBwgJCgsMDQ4PEA')
const Nonce = bytes(
  'A part of what is signed: the client computes the challenge from it (docs/signed-orders.md)',
  128,
  'GZ0Qm1Qz8mXc0mXjW0rVYw',
)
const AnsweredNonce = bytes('The `nonce` of the options that were answered', 128, 'GZ0Qm1Qz8mXc0mXjW0rVYw')
const ClientData = bytes('`clientDataJSON` of the answer', 4096, 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0')
const Transports = Type.Array(
  Type.String({
    maxLength: 32,
    pattern: '^[a-z-]+$',
    description: 'A way to reach the authenticator.',
    examples: ['internal'],
  }),
  { maxItems: 8, description: 'Ways in which a browser reaches the authenticator.' },
)
const CredentialRef = Closed({
  type: Type.Literal('public-key', { description: 'Always `public-key`.', examples: ['public-key'] }),
  id: CredentialId,
  transports: Transports,
})
const Timeout = Type.Integer({ description: 'Milliseconds until the nonce ends.', examples: [300000] })
const UserVerification = Type.Literal('required', {
  description: 'The authenticator verifies its user, by a PIN or a biometric feature.',
  examples: ['required'],
})
export const Passkey = Closed(
  {
    id: Id,
    name: Name,
    credentialId: CredentialId,
    publicKey: bytes('Its public key, as SPKI in DER', 2048, 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7'),
    fingerprint: Fingerprint,
    isSynced: Type.Boolean({
      description: 'True if the provider of the authenticator copies the passkey to other devices of the person.',
      examples: [true],
    }),
    createdAt: Timestamp,
    lastUsedAt: described(Nullable(Timestamp), 'Instant of its last signature, in UTC; null before the first.'),
    waitsFor: described(
      Nullable(
        Closed({
          vaultCode: described(VaultCode, 'Vault in which it waits.'),
          approvalRequestId: described(Id, 'Identifier of the approval request.'),
        }),
      ),
      'The approval request in which a second person accepts the passkey, which cannot be used before; null if it can be used.',
    ),
  },
  {
    $id: 'Passkey',
    description:
      'A sign-in key of a person (WebAuthn) that an authenticator keeps: a phone, a computer, a security key. It signs in ' +
      'and confirms requests; if the authority of a wallet service names it, it also moves funds.',
  },
)
export type Passkey = Static<typeof Passkey>

export const Assertion = Closed(
  {
    id: CredentialId,
    nonce: AnsweredNonce,
    clientDataJSON: ClientData,
    authenticatorData: bytes(
      '`authenticatorData` of the answer',
      4096,
      'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
    ),
    signature: bytes('`signature` of the answer', 1024, 'MEUCIQDnr0m3QmVZ1vZ0'),
  },
  { $id: 'PasskeyAssertion', description: 'Answer of `navigator.credentials.get`, with the nonce of its options.' },
)
export type Assertion = Static<typeof Assertion>

export const Attestation = Closed(
  {
    id: CredentialId,
    nonce: AnsweredNonce,
    clientDataJSON: ClientData,
    attestationObject: bytes('`attestationObject` of the answer', 16_384, 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg'),
    transports: Transports,
  },
  {
    $id: 'PasskeyAttestation',
    description: 'Answer of `navigator.credentials.create`, with the nonce of its options.',
  },
)
export type Attestation = Static<typeof Attestation>

export const RequestOptions = Closed(
  {
    nonce: Nonce,
    timeout: Timeout,
    userVerification: UserVerification,
    allowCredentials: described(
      Type.Array(CredentialRef),
      'The passkeys that may sign; empty if any passkey of this service may.',
    ),
  },
  {
    $id: 'PasskeyRequestOptions',
    description:
      'The `publicKey` of `navigator.credentials.get`, with bytes in base64url. The client adds `rpId` and the ' +
      '`challenge`, which it computes for its own origin.',
  },
)
export type RequestOptions = Static<typeof RequestOptions>

const text = (description: string, example: string) => Type.String({ description, examples: [example] })

export const CreationOptions = Closed(
  {
    rp: described(Closed({ name: text('Name of the service.', 'Strongroom') }), 'The service.'),
    user: described(
      Closed({
        id: bytes('Handle of the person', 128, 'Y21pOGgyazFwMGExYjJjM2Q0ZTVmNmc3aA'),
        name: text('E-mail address of the person.', 'ana@example.org'),
        displayName: text('Name of the person.', 'Ana'),
      }),
      'The person.',
    ),
    nonce: Nonce,
    pubKeyCredParams: described(
      Type.Array(
        Closed({
          type: Type.Literal('public-key', { description: 'Always `public-key`.', examples: ['public-key'] }),
          alg: Type.Integer({ description: 'COSE number of the algorithm.', examples: [-7] }),
        }),
      ),
      'The algorithms that the service accepts: EdDSA and ES256.',
    ),
    timeout: Timeout,
    excludeCredentials: described(Type.Array(CredentialRef), 'Passkeys that the person already has.'),
    authenticatorSelection: described(
      Closed({
        residentKey: Type.Literal('required', {
          description: 'The authenticator finds the passkey without the name of the person.',
          examples: ['required'],
        }),
        userVerification: UserVerification,
      }),
      'Requirements for the authenticator.',
    ),
    attestation: Type.Literal('none', {
      description: 'The service does not request the make of the authenticator.',
      examples: ['none'],
    }),
  },
  {
    $id: 'PasskeyCreationOptions',
    description:
      'The `publicKey` of `navigator.credentials.create`, with bytes in base64url. The client adds `rp.id` and the ' +
      '`challenge`, which it computes for its own origin.',
  },
)
export type CreationOptions = Static<typeof CreationOptions>

export const PasskeyOptions = Closed(
  {
    creation: Ref(CreationOptions),
    confirmation: described(
      Nullable(Ref(RequestOptions)),
      'Options for a passkey that the person already has, which must confirm; null for the first passkey.',
    ),
  },
  { $id: 'PasskeyOptions' },
)
export type PasskeyOptions = Static<typeof PasskeyOptions>

export const AddPasskey = Closed({
  name: Name,
  credential: Ref(Attestation),
  confirmation: Type.Optional(Ref(Assertion)),
})
export type AddPasskey = Static<typeof AddPasskey>

/** The passkey that a second person accepts. */
export const NewPasskey = Closed({
  passkeyId: Id,
  name: Name,
  fingerprint: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  credentialId: CredentialId,
  coseKey: bytes('The key as the authenticator made it (COSE)', 1366, 'pQECAyYgASFYIA'),
  signatures: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }),
  transports: Transports,
  isSynced: Type.Boolean(),
})

export const ConfirmationOf = Closed({
  method: Type.String({
    enum: ['POST', 'PUT', 'PATCH', 'DELETE'],
    description: 'Method of the request.',
    examples: ['DELETE'],
  }),
  path: Type.String({
    maxLength: 512,
    pattern: '^/api/v1/',
    description: 'Path of the request, without a query.',
    examples: ['/api/v1/users/me/passkeys/cmi8h2k1p0a1b2c3d4e5f6g7h'],
  }),
  bodyHash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 (hex) of the canonical JSON of its body (RFC 8785); of `{}` for a request without a body.',
    examples: ['44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
  }),
})

export const PasskeySignIn = Closed({ credential: Ref(Assertion) })
export const passkeyComponents = [Passkey, Assertion, Attestation, RequestOptions, CreationOptions, PasskeyOptions]
