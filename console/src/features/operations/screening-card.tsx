import type { Screening } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { formatTimeInFull } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, Facts } from '../../ui/page.tsx'

/** The result of the screening of a deposit or a transfer. Shows nothing if it was not screened. */
export function ScreeningCard({ screening }: { screening: Screening | null }) {
  if (screening === null) return null
  const { verdict, score, reference, askedAt, answeredAt, attempts, isWaived } = screening
  const unanswered = verdict === null && askedAt !== null && !isWaived
  return (
    <Card title={t('Screening')}>
      <Facts
        facts={[
          [t('Answer'), <Verdict key="verdict" screening={screening} />],
          [t('Risk score'), score === null ? null : t('{score} of 100', { score })],
          [t('Case'), reference],
          [t('Asked'), askedAt === null ? null : formatTimeInFull(askedAt)],
          [
            t('Attempts'),
            unanswered
              ? t('{count, plural, one {# without an answer} other {# without an answer}}', { count: attempts })
              : null,
          ],
          [t('Answered'), answeredAt === null ? null : formatTimeInFull(answeredAt)],
          [t('Released by'), isWaived ? t('Two people') : null],
        ]}
      />
    </Card>
  )
}

function Verdict({ screening: { verdict, isWaived } }: { screening: Screening }) {
  if (verdict === 'allow') return <Badge tone="good">{t('Allowed')}</Badge>
  if (verdict === 'hold') return <Badge tone="warn">{t('Two people must decide')}</Badge>
  if (verdict === 'block') return <Badge tone="bad">{t('Blocked')}</Badge>
  return <Badge tone={isWaived ? 'neutral' : 'warn'}>{t('No answer yet')}</Badge>
}
