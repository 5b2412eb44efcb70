import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, RawAmount, Ref, Timestamp } from '../../../http/schema.ts'
import { authorityVotesMax } from '../../../lib/limits.ts'
import { SignedVote } from '../../rules/signatures/schema.ts'

const Hash = Type.String({ examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] })
const Slug = Type.String({ examples: ['ethereum'] })
const OnchainAddress = Type.String({ examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] })
const Group = Type.String({ description: 'Id of one of the groups.', examples: ['treasurers'] })
const Votes = Type.Integer({ description: 'Number of people of the group who must vote.', examples: [2] })

const Origin = Type.String({ description: 'Origin of a page.', examples: ['https://sign.example.org'] })

export const SigningPages = Closed({
  origins: described(
    Type.Array(Origin),
    'Origins of the pages on which you sign; empty if you sign on pages of this service.',
  ),
})

/** A signed version that is not in force yet. */
const PendingAuthority = Closed({
  version: Type.Integer({ examples: [2] }),
  hash: described(
    Hash,
    'Fingerprint of the version, computed by this service. People compare it with the one that the wallet service shows.',
  ),
  inForceAt: described(Timestamp, 'Time at which the version comes into force, unless it is cancelled before.'),
  trustsServicePage: Type.Boolean({
    description:
      'True if keys of other pages than the page of the wallet service may sign when the version is in force.',
    examples: [false],
  }),
  document: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The document from which `hash` is computed.',
    examples: [{ format: 'strongroom-authority-2' }],
  }),
})

export const AuthorityCancellation = Closed({
  votes: Type.Array(Ref(SignedVote), {
    minItems: 1,
    maxItems: authorityVotesMax,
    description: 'Votes `reject` on the hash of the pending version, by people of the group that signs versions.',
  }),
})

/** The authority that is in force at the wallet service. This service does not store it. */
export const VaultAuthority = Closed({
  version: Type.Integer({ examples: [1] }),
  hash: described(
    Hash,
    'Fingerprint of the version, computed by this service. People compare it with the one that the wallet service shows.',
  ),
  document: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The document from which `hash` is computed. Signers compute the hash themselves, and read symbols and decimals here.',
    examples: [{ format: 'strongroom-authority-2' }],
  }),
  trustsServicePage: Type.Boolean({
    description:
      'True if keys of other pages than the page of the wallet service may sign, such as keys of this service.',
    examples: [false],
  }),
  delayHours: Type.Integer({
    description: 'Time for which the next version waits after it was signed.',
    examples: [24],
  }),
  pending: described(
    Nullable(PendingAuthority),
    'The next version, which was signed and comes into force after the delay; null if no version waits.',
  ),
  votesToCancel: Type.Integer({
    description:
      'Number of people of `change.group` who can cancel the pending version: one fewer than the signers of a version, and at least one.',
    examples: [1],
  }),
  highest: described(
    Closed({
      version: described(Type.Integer({ examples: [1] }), 'Number of that version.'),
      hash: described(Hash, 'Hash of that version.'),
      seenAt: described(Timestamp, 'Instant at which this service saw it first, in UTC.'),
    }),
    'The highest version that this service has seen.',
  ),
  alarmSince: described(
    Nullable(Timestamp),
    'Time since which the wallet service has shown an older version, or another version of the same number; null if it does not.',
  ),
  keys: described(
    Type.Array(
      Closed({
        id: Type.String({ description: 'Id of the key.', examples: ['AQIDBAUGBwgJCgsMDQ4PEA'] }),
        person: described(Id, 'User id of the person or service that has the key.'),
        name: Type.String({ description: 'Name of the key.', examples: ['Phone'] }),
        kind: described(Enum(['passkey', 'service']), '`service`: an Ed25519 key of a program.'),
        fingerprint: described(Hash, 'SHA-256 of the public key.'),
        rpId: described(Nullable(Type.String({ examples: ['sign.example.org'] })), 'Host of a passkey.'),
        origins: described(Type.Array(Origin), 'Origins of the pages on which the key signs.'),
      }),
    ),
    'Keys whose signatures are valid.',
  ),
  groups: described(
    Type.Array(Closed({ id: Group, persons: described(Type.Array(Id), 'User ids of its people.') })),
    'Groups of signers.',
  ),
  addresses: described(
    Type.Array(Closed({ network: Slug, address: OnchainAddress })),
    'The signed address book; all other addresses are unlisted.',
  ),
  change: described(Closed({ group: Group, votes: Votes }), 'Signers of the next version.'),
  rules: described(
    Type.Array(
      Closed({
        network: Slug,
        contractAddress: Nullable(OnchainAddress),
        symbol: described(Nullable(Type.String({ examples: ['USDT'] })), 'Null if the authority has format 1.'),
        decimals: described(Nullable(Type.Integer({ examples: [6] })), 'Null if the authority has format 1.'),
        initiators: described(Group, 'The group whose people may order.'),
        perDay: described(
          Nullable(RawAmount),
          'Largest amount within 24 hours, in the smallest unit; null without a limit.',
        ),
        floors: described(
          Type.Array(
            Closed({
              above: described(
                RawAmount,
                'The approvals are needed for amounts above this amount, in the smallest unit.',
              ),
              to: described(
                Enum(['any', 'unlisted']),
                'Recipients for which they are needed: any, or those that `addresses` does not list.',
              ),
              group: Group,
              votes: Votes,
            }),
          ),
          'Approvals that are needed in addition to the signature of the initiator.',
        ),
      }),
    ),
    'A rule for each token that may leave the vault.',
  ),
})
