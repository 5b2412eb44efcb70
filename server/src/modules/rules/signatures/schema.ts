import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Ref, Timestamp } from '../../../http/schema.ts'
import { earlierVoteFormat, voteDecisions, voteFormat, voteSubjects } from '../../../lib/signed-vote.ts'

/** SHA-256 in hexadecimal digits. */
export const Sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})

/** The fingerprint of the key of a person or service. */
export const Fingerprint = Type.String({
  description: 'SHA-256 of the public key: people compare it with what the wallet service shows.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})

export const bytes = (description: string, maxLength: number, example: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]+$',
    maxLength,
    description: `${description}, in base64url.`,
    examples: [example],
  })

const authorityOfVote = described(
  Nullable(Sha256),
  'Hash of the authority in force, whose symbols and decimals the signer was shown; null if the wallet service has none.',
)

/** An instant in the only form that is accepted in a signed vote. */
const SignedAt = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  format: 'date-time',
  description: 'Time of the signature, by the clock of the signer.',
  examples: ['2026-01-31T09:30:00.000Z'],
})

const voteParts = {
  subject: described(Enum(voteSubjects), 'Subject of the vote.'),
  hash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The `payloadHash` of the subject.',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
  decision: described(Enum(voteDecisions), 'The decision; `initiate` is the decision of the initiator of an order.'),
  person: described(Id, 'Id of the user who signs.'),
}

export const Vote = Closed(
  {
    format: Type.Literal(voteFormat, { description: 'Version of this form.', examples: [voteFormat] }),
    ...voteParts,
    authority: authorityOfVote,
    signedAt: SignedAt,
  },
  { $id: 'Vote', description: 'The signed vote, as canonical JSON.' },
)

/** A vote that was kept before format 2 has the first format and neither an authority nor a time. */
export const KeptVote = Closed(
  {
    format: described(Enum([voteFormat, earlierVoteFormat]), 'Version of this form.'),
    ...voteParts,
    authority: Type.Optional(authorityOfVote),
    signedAt: Type.Optional(SignedAt),
  },
  { $id: 'KeptVote', description: 'The signed vote, as canonical JSON.' },
)

const signatureParts = {
  keyId: Type.String({
    pattern: '^[A-Za-z0-9_-]+$',
    maxLength: 1364,
    description: 'Credential id of the passkey, or id of the key of the service.',
    examples: ['AQIDBAUGBwgJCgsMDQ4PEA'],
  }),
  signature: bytes('The signature', 1024, 'MEUCIQDnr0m3QmVZ1vZ0'),
  authenticatorData: Type.Optional(
    bytes('`authenticatorData` of a passkey', 4096, 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ'),
  ),
  clientDataJSON: Type.Optional(bytes('`clientDataJSON` of a passkey', 4096, 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0')),
}

export const SignedVote = Closed(
  { vote: Ref(Vote), ...signatureParts },
  { $id: 'SignedVote', description: 'A vote of a protected vault with its signature: docs/signed-orders.md.' },
)
export type SignedVote = Static<typeof SignedVote>

export const KeptSignedVote = Closed(
  { vote: Ref(KeptVote), ...signatureParts },
  { $id: 'KeptSignedVote', description: 'A signed vote as it is stored: docs/signed-orders.md.' },
)

/** A signed vote in evidence, with what it was checked against. */
export const VoteEvidence = Closed(
  {
    signed: Ref(KeptSignedVote),
    publicKey: bytes(
      'The key with which the vote was checked, as SPKI in DER',
      2048,
      'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7',
    ),
    rpId: described(
      Nullable(Type.String({ examples: ['vault.example.org'] })),
      'Host for which the passkey was made; null for the key of a service.',
    ),
    origin: described(
      Nullable(Type.String({ examples: ['https://vault.example.org'] })),
      'Origin of the page where the passkey signed; null for the key of a service.',
    ),
    createdAt: Timestamp,
  },
  { $id: 'VoteEvidence', description: 'A signed vote, with the key and the page against which it was checked.' },
)

export const signatureComponents = [Vote, SignedVote, KeptVote, KeptSignedVote, VoteEvidence]
