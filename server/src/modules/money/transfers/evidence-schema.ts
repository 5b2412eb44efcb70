import { Type } from 'typebox'
import { Closed, described, Id, Nullable, RawAmount, Ref, Timestamp } from '../../../http/schema.ts'
import { signedSeal } from '../../record/seals/schema.ts'
import { VoteEvidence } from '../../rules/signatures/schema.ts'
import { Transfer } from './schema.ts'

const Text = (example: string) => Type.String({ examples: [example] })

const Hash = Text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08')
/** JSON as it was recorded, in the form of its time. */
const Document = (description: string) =>
  Type.Unsafe<unknown>(Type.Object({}, { additionalProperties: true, description }))

export const TransferEvidence = Closed(
  {
    schemaVersion: described(Type.Literal('2'), 'Version of this format.'),
    transfer: Ref(Transfer),
    payload: Document('The order; the SHA-256 of its canonical JSON is `payloadHash`.'),
    payloadHash: described(
      Hash,
      'SHA-256 of the order, in hexadecimal digits, to which votes and hand-over are bound.',
    ),
    decision: Document('The decision with the matching policies as they were.'),
    signedVotes: described(
      Type.Array(Ref(VoteEvidence)),
      'Votes that people and services signed in a protected vault: docs/signed-orders.md.',
    ),
    batch: Type.Optional(
      Document('For a row of a signed payout: the signed document, and the place of the row in it.'),
    ),
    ledgerEntries: described(
      Type.Array(
        Closed({
          sequence: described(Text('42'), 'Number of the entry in the ledger.'),
          kind: described(Text('reserve'), 'Kind of the entry, such as `reserve` or `settle`.'),
          tokenId: Id,
          debitAccountId: described(
            Nullable(Id),
            'Identifier of the account that decreases; null for an account of the vault itself.',
          ),
          creditAccountId: described(
            Nullable(Id),
            'Identifier of the account that increases; null for an account of the vault itself.',
          ),
          amount: RawAmount,
          debitBalance: described(
            Nullable(RawAmount),
            'Balance of that account after the entry; null if `debitAccountId` is null.',
          ),
          creditBalance: described(
            Nullable(RawAmount),
            'Balance of that account after the entry; null if `creditAccountId` is null.',
          ),
          createdAt: Timestamp,
          content: Type.String({
            description: 'Content that the seal of the entry covers: canonical JSON whose SHA-256 is `hash`.',
          }),
          hash: Hash,
          sealSequence: described(
            Nullable(Type.Integer({ examples: [12] })),
            'Number of the seal of the ledger that holds the entry; null in its first seconds.',
          ),
          proof: described(
            Nullable(
              Closed({
                index: described(
                  Type.Integer({ minimum: 0, examples: [2] }),
                  'Place of the entry in the seal, from 0.',
                ),
                path: described(
                  Type.Array(Hash),
                  'The sibling hashes on the way from the entry to `root` of its seal, lowest first (docs/audit.md).',
                ),
              }),
            ),
            'Proves that the seal holds the entry; null if `sealSequence` is null.',
          ),
        }),
      ),
      'The entries of the ledger that the transfer caused, in their order.',
    ),
    ledgerSeals: described(
      Type.Array(
        Closed({
          sequence: described(Type.Integer({ examples: [12] }), 'Number of the seal in the seal chain of the ledger.'),
          previousHash: described(Hash, 'Hash of the previous seal, which links the seals to a chain.'),
          size: described(Type.Integer({ examples: [5] }), 'Number of entries that the seal covers.'),
          sealedAt: described(Timestamp, 'Instant of the seal, in UTC.'),
          ...signedSeal,
          hash: Hash,
        }),
      ),
      'The seals of those entries.',
    ),
    auditRecords: described(
      Type.Array(
        Closed({
          content: Type.String({ description: 'Canonical JSON whose SHA-256 is `hash`.' }),
          hash: Hash,
          sealSequence: described(
            Nullable(Type.Integer({ examples: [7] })),
            'Number of the seal that chains the record; null in its first seconds.',
          ),
        }),
      ),
      'The audit records about the transfer.',
    ),
    seals: described(
      Type.Array(
        Closed({
          sequence: described(Type.Integer({ examples: [7] }), 'Number of the seal in the seal chain.'),
          previousHash: described(Hash, 'Hash of the previous seal, which links the seals to a chain.'),
          records: described(
            Type.Array(Closed({ id: Id, hash: Hash })),
            'The records that the seal covers, with their hashes.',
          ),
          sealedAt: described(Timestamp, 'Instant of the seal, in UTC.'),
          ...signedSeal,
          hash: Hash,
        }),
      ),
      'The seals of those records.',
    ),
  },
  { $id: 'TransferEvidence', description: 'All that is recorded about a transfer, for a check without the service.' },
)

export const evidenceComponents = [TransferEvidence]
