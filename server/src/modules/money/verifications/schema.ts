import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Timestamp } from '../../../http/schema.ts'

const verificationStates = ['queued', 'running', 'done', 'failed'] as const
export type VerificationState = (typeof verificationStates)[number]

export const LedgerVerification = Closed(
  {
    id: Id,
    status: described(
      Enum(verificationStates),
      '`done`: every check was made, whatever it found. `failed`: the checks could not be made.',
    ),
    createdAt: Timestamp,
    startedAt: described(Nullable(Timestamp), 'Start of the checks, in UTC; null before the start.'),
    finishedAt: described(Nullable(Timestamp), 'End of the checks, in UTC; null before the end.'),
    findings: described(
      Nullable(
        Type.Array(
          Closed({
            check: Type.String({ description: 'Name of the check.', examples: ['cached balance'] }),
            message: Type.String({
              description: 'Description of the difference, with ids and raw amounts.',
              examples: ['account cmi8h2k1p0a1b2c3d4e5f6g7h holds 7, its entries sum to 5'],
            }),
          }),
        ),
      ),
      'Every difference, at most 100 of a check; empty for a sound ledger, null until it is `done`.',
    ),
    failure: Nullable(
      Type.String({ description: 'Why the checks could not be made.', examples: ['The checks could not be made'] }),
    ),
  },
  { $id: 'LedgerVerification', description: 'A verification of the books of a vault, made in the background.' },
)
export type LedgerVerification = Static<typeof LedgerVerification>

export const ledgerVerificationComponents = [LedgerVerification]
