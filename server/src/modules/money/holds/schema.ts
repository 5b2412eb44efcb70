import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  GivenId,
  Id,
  Nullable,
  optional,
  ProfileBeside,
  pageQuery,
  RawAmount,
  Timestamp,
} from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
import { holdOrigins, holdSubjectTypes } from '../../rules/holds/active.ts'

const ReasonText = Type.String({
  minLength: 1,
  maxLength: noteLengthMax,
  pattern: '\\S',
  examples: ['The key of this address may be known to others'],
})
const SubjectType = Enum(holdSubjectTypes)

export const Hold = Closed(
  {
    id: Id,
    vaultId: Id,
    subjectType: described(SubjectType, 'Kind of the held subject.'),
    subjectId: described(GivenId, 'Identifier of the held subject.'),
    subjectName: described(
      Nullable(Type.String({ examples: ['Payroll'] })),
      'Present name of the subject; null for a transfer or a deposit.',
    ),
    origin: described(
      Enum(holdOrigins),
      '`people`, or `screening`: the screening service stopped it, or has not answered yet.',
    ),
    reason: described(ReasonText, 'Why it was placed.'),
    isActive: Type.Boolean({ description: 'True while the hold is active.', examples: [true] }),
    reserved: described(
      Nullable(
        Closed({
          amount: RawAmount,
          amountDecimal: DecimalAmount,
          asset: Type.String({ examples: ['USDT'] }),
        }),
      ),
      'For a deposit: the part that was available when the hold was placed, which is reserved while the hold is active; ' +
        'otherwise null.',
    ),
    handedOverCount: Type.Integer({
      minimum: 0,
      description:
        'Number of unfinished transfers of the subject that had been handed to the wallet service before. They may have ' +
        'been sent.',
      examples: [0],
    }),
    placedById: described(Nullable(Id), 'User who placed the hold; null for the service itself.'),
    placedBy: ProfileBeside,
    createdAt: Timestamp,
    endsAt: described(
      Nullable(Timestamp),
      'End of a hold on a person unless a second person confirms it, in UTC; null for other holds.',
    ),
    confirmedAt: described(
      Nullable(Timestamp),
      'Instant at which a second person confirmed it; null before, and without `endsAt`.',
    ),
    confirmedById: described(Nullable(Id), 'User who confirmed the hold.'),
    confirmedBy: ProfileBeside,
    becauseOfId: described(
      Nullable(Id),
      'For a suspension: the hold that left too few voters, so that the person who placed it is suspended too.',
    ),
    releasedAt: described(Nullable(Timestamp), 'Instant of the release, in UTC; null while the hold is active.'),
    releasedById: described(Nullable(Id), 'User who requested the release, which others approved.'),
    releasedBy: ProfileBeside,
    releaseReason: described(Nullable(ReasonText), 'Why it was released; null while the hold is active.'),
  },
  { $id: 'Hold', description: 'A hold: the stop of a subject by one person, until two people release it.' },
)

export const HoldPlacing = Closed(
  {
    subjectType: described(SubjectType, 'Kind of the subject to hold.'),
    subjectId: described(GivenId, 'Identifier of the subject to hold; for a hold on the vault, the id of the vault.'),
    reason: described(ReasonText, 'Why, for everybody who reads the hold.'),
  },
  { $id: 'HoldPlacing', description: 'Subject and reason of a hold.' },
)

export const HoldRelease = Closed(
  { reason: described(ReasonText, 'Reason for the release, for its voters.') },
  { $id: 'HoldRelease', description: 'Why a hold may be released.' },
)

/** The payload that is voted on: the reason with the evidence that the service adds. */
export const HoldReleasePayload = Closed({
  reason: ReasonText,
  hold: Type.Optional(Type.Unknown()),
})

export const HoldQuery = Closed({
  active: Type.Optional(Type.Boolean({ description: 'true: active holds; false: released holds.', examples: [true] })),
  subjectType: optional(SubjectType, 'Restricts the list to holds on this kind of subject.'),
  subjectId: optional(GivenId, 'Restricts the list to holds on this subject.'),
  origin: optional(Enum(holdOrigins), 'Restricts the list to holds of this origin.'),
  ...pageQuery,
})

/** A hold that stops a payment now, beside the payment. */
export const HoldOnPayment = Closed(
  {
    id: described(
      Nullable(Id),
      'Identifier of the hold; null for a reader who may not read the hold, who learns its kind only.',
    ),
    subjectType: described(SubjectType, 'Kind of the held subject.'),
    subjectId: described(Nullable(GivenId), 'Identifier of the held subject.'),
    subjectName: described(
      Nullable(Type.String({ examples: ['Harbour Trading'] })),
      'Present name of the subject; null for a deposit or a transfer.',
    ),
    origin: described(Enum(holdOrigins), '`people`, or `screening`; also for a reader who may not read the hold.'),
    reason: described(Nullable(ReasonText), 'Why it was placed.'),
    placedBy: ProfileBeside,
    createdAt: described(Nullable(Timestamp), 'Instant at which the hold was placed, in UTC.'),
  },
  { $id: 'HoldOnPayment', description: 'A hold that stops a payment: it is neither voted on nor sent.' },
)

export const holdComponents = [Hold, HoldOnPayment, HoldPlacing, HoldRelease]
