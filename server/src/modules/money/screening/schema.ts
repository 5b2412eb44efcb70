import { Type } from 'typebox'
import { Closed, described, Enum, Nullable, Ref, Timestamp } from '../../../http/schema.ts'
import { screeningScoreMax } from '../../../lib/limits.ts'
import { verdicts } from './screener.ts'

export const Screening = Closed(
  {
    verdict: described(
      Nullable(Enum(verdicts)),
      'Answer of the screening service; null while there is no answer, which stops the subject like a hold.',
    ),
    score: described(
      Nullable(Type.Integer({ minimum: 0, maximum: screeningScoreMax, examples: [12] })),
      'Risk from 0 to 100, as the screening service rates it; null without an answer.',
    ),
    reference: described(
      Nullable(Type.String({ examples: ['case-2026-00017'] })),
      'Reference of the case at the screening service; null without an answer.',
    ),
    askedAt: described(Nullable(Timestamp), 'Instant of the first attempt to ask, in UTC; null before it.'),
    answeredAt: described(Nullable(Timestamp), 'Instant of the answer, in UTC; null without one.'),
    attempts: Type.Integer({ minimum: 0, description: 'Number of requests to the screening service.', examples: [1] }),
    isWaived: Type.Boolean({
      description: 'True if two people released the hold of the screening, so that its answer no longer counts.',
      examples: [false],
    }),
  },
  { $id: 'Screening', description: 'Result of the screening of a deposit or a transfer.' },
)

/** The screening, beside its subject. */
export const ScreeningBeside = described(
  Nullable(Ref(Screening)),
  'Its screening; null if it was not screened, for example without a screening service.',
)

export const screeningComponents = [Screening]
