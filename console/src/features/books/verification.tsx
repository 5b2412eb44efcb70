import type { LedgerVerification } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { DetailState, Failed } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import type { BooksProps } from './parts.ts'
import { isOpen, verificationQuery } from './queries.ts'

/** Lets the service recompute the whole books. The URL names the verification, so that others can read it. */
export function VerificationPart({ code, search, change }: BooksProps) {
  const id = search.verification ?? ''
  const client = useQueryClient()
  const query = useQuery(verificationQuery(code, id))
  const start = useMutation({
    mutationFn: () => vaultOf(code).ledger.startVerification(),
    onSuccess: (verification) => {
      client.setQueryData(verificationQuery(code, verification.id).queryKey, verification)
      change({ verification: verification.id })
    },
  })
  const isRunning = query.data !== undefined && isOpen(query.data)
  return (
    <Card
      title={t('Verify the books')}
      actions={
        <Button
          look="primary"
          icon={<ShieldCheck size={16} aria-hidden />}
          busy={start.isPending}
          disabledBecause={isRunning ? t('The books are being verified.') : null}
          onClick={() => start.mutate()}
        >
          {id === '' ? t('Verify') : t('Verify again')}
        </Button>
      }
    >
      <p className="mb-4 text-quiet">
        {t(
          'The service computes every balance anew from its entries, and the entries from the operations. It takes a while with large books, and goes on when you leave this page.',
        )}
      </p>
      {start.isError && (
        <div className="mb-4">
          <Failed error={start.error} retry={() => start.mutate()} />
        </div>
      )}
      {id !== '' && (
        <DetailState query={query}>
          <div aria-live="polite">{query.data !== undefined && <Result verification={query.data} />}</div>
        </DetailState>
      )}
    </Card>
  )
}

function Result({ verification }: { verification: LedgerVerification }) {
  const { status, finishedAt, createdAt, findings, failure } = verification
  if (isOpen(verification)) {
    return (
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone="waiting">{status === 'queued' ? t('Waiting') : t('Running')}</Badge>
        {t('Ordered {when}', { when: formatTime(createdAt) })}
      </p>
    )
  }
  const verified = t('Verified {when}', { when: formatTime(finishedAt ?? createdAt) })
  if (status === 'failed' || findings === null) {
    return (
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone="warn">{t('Not verified')}</Badge>
        {t('The books could not be verified, which says nothing about them.')}{' '}
        <span className="[overflow-wrap:anywhere]">{failure}</span>
      </p>
    )
  }
  if (findings.length === 0) {
    return (
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone="good">{t('No differences')}</Badge>
        {verified}
      </p>
    )
  }
  return <Findings findings={findings} verified={verified} />
}

type FindingsProps = { findings: NonNullable<LedgerVerification['findings']>; verified: string }

function Findings({ findings, verified }: FindingsProps) {
  return (
    <>
      <p className="mb-3 flex flex-wrap items-center gap-2">
        <Badge tone="bad">
          {t('{count, plural, one {# difference} other {# differences}}', { count: findings.length })}
        </Badge>
        {verified}
      </p>
      <p className="mb-3 text-bad">
        {t(
          'The books contradict themselves. Order nothing more, keep this page, and call the operator of the service.',
        )}
      </p>
      <ul className="grid gap-2">
        {findings.map(({ check, message }) => (
          <li key={`${check} ${message}`} className="[overflow-wrap:anywhere]">
            <span className="font-medium">{check.replaceAll('_', ' ')}</span>
            <span className="block text-bad">{message}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
