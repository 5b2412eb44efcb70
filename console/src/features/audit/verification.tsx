import type { AuditRecord } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useRef, useState } from 'react'
import { formatter } from '../../lib/formatter.ts'
import { canHash } from '../../lib/hashes.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { type ChainSeal, type Fault, type Progress, verifyLog, verifyPage } from './chain.ts'
import { NotedHead } from './noted-head.tsx'
import { allRecords, allSeals, type Log, sealOf } from './queries.ts'

type State =
  | { at: 'rest' }
  | { at: 'work'; progress: Progress }
  | { at: 'end'; progress: Progress; whole: boolean }
  | { at: 'fault'; error: unknown }

const nothing: Progress = { seals: 0, records: 0, newestSeal: null, waiting: 0, faults: [] }

/** Recomputes hashes and seals in this browser. The service provides the data, but no verdict. */
export function Verification({ log, records }: { log: Log; records: readonly AuditRecord[] }) {
  const [state, setState] = useState<State>({ at: 'rest' })
  const running = useRef<AbortController | null>(null)
  const run = async (whole: boolean) => {
    const abort = new AbortController()
    running.current?.abort()
    running.current = abort
    const report = (progress: Progress) => setState({ at: 'work', progress })
    report(nothing)
    try {
      const { signal } = abort
      const progress = whole
        ? await verifyLog(allSeals(log, signal), allRecords(log, signal), report)
        : await verifyPage(records, (sequence) => sealOf(log, sequence, signal))
      setState({ at: 'end', progress, whole })
    } catch (error) {
      setState(abort.signal.aborted ? { at: 'rest' } : { at: 'fault', error })
    }
  }
  const cannot = canHash() ? null : t('The browser computes hashes on pages that came by HTTPS only.')
  return (
    <Card
      title={t('Proof')}
      actions={
        state.at === 'work' ? (
          <Button onClick={() => running.current?.abort()}>{t('Stop')}</Button>
        ) : (
          <div className="flex flex-wrap gap-2">
            <Button disabledBecause={cannot} onClick={() => run(false)}>
              {t('Verify this page')}
            </Button>
            <Button icon={<ShieldCheck size={16} aria-hidden />} disabledBecause={cannot} onClick={() => run(true)}>
              {t('Verify everything')}
            </Button>
          </div>
        )
      }
    >
      <div aria-live="polite">
        {state.at === 'rest' && (
          <p className="text-quiet">
            {t(
              'Your browser computes the hash of each record and each seal again, and compares them. It does not rely on a result of the service.',
            )}{' '}
            <Link to="/verify" className="text-accent underline">
              {t('Verify evidence')}
            </Link>
          </p>
        )}
        {state.at === 'work' && <Counts progress={state.progress} />}
        {state.at === 'end' && <Result log={log} progress={state.progress} whole={state.whole} />}
        {state.at === 'fault' && <Failed error={state.error} retry={() => run(true)} />}
      </div>
    </Card>
  )
}

function Counts({ progress: { seals, records } }: { progress: Progress }) {
  return (
    <p className="flex items-center gap-3">
      <progress className="w-32 accent-accent" aria-label={t('Verification')} />
      {t('{seals} seals and {records} records checked', { seals: count(seals), records: count(records) })}
    </p>
  )
}

function count(value: number): string {
  return formatter(Intl.NumberFormat).format(value)
}

function Result({ log, progress, whole }: { log: Log; progress: Progress; whole: boolean }) {
  const { seals, records, newestSeal, waiting, faults } = progress
  return (
    <>
      <p className="mb-3 flex flex-wrap items-center gap-2">
        {faults.length === 0 ? (
          <Badge tone="good">{t('Everything is correct')}</Badge>
        ) : (
          <Badge tone="bad">
            {t('{count, plural, one {# contradiction} other {# contradictions}}', { count: faults.length })}
          </Badge>
        )}
        {t('{seals} seals and {records} records checked', { seals: count(seals), records: count(records) })}
        {waiting > 0 && (
          <span className="text-quiet">
            {t('{count, plural, one {# record waits} other {# records wait}} for a seal', { count: waiting })}
          </span>
        )}
      </p>
      {faults.length > 0 && <Faults faults={faults} />}
      {newestSeal !== null && whole && <Head log={log} seal={newestSeal} />}
    </>
  )
}

function Faults({ faults }: { faults: readonly Fault[] }) {
  return (
    <>
      <p className="mb-2 text-bad">
        {t('The audit log was changed after it was written. Save this page, and tell the operator of the service.')}
      </p>
      <ul className="mb-3 grid gap-1">
        {faults.slice(0, 50).map((fault) => (
          <li key={JSON.stringify(fault)} className="text-bad">
            {faultWords(fault)} {'id' in fault && <span className="code">{fault.id}</span>}
          </li>
        ))}
      </ul>
    </>
  )
}

function faultWords(fault: Fault): string {
  const { sequence } = fault
  const words: Record<Fault['kind'], () => string> = {
    seal_hash: () => t('The content of seal {sequence} does not match its hash.', { sequence }),
    seal_signature: () => t('Seal {sequence} is not signed by the key that it names.', { sequence }),
    seal_link: () => t('Seal {sequence} does not follow the previous seal.', { sequence }),
    seal_number: () => t('Seal {sequence} is missing.', { sequence }),
    record_hash: () => t('The content of a record does not match its hash:'),
    record_fields: () => t('The values shown for a record are not the hashed values:'),
    record_not_sealed: () => t('Seal {sequence} does not hold the record', { sequence }),
    record_missing: () => t('A record of seal {sequence} is missing:', { sequence }),
  }
  return words[fault.kind]()
}

/** The head of the log, to be compared with a hash that was noted down elsewhere. */
function Head({ log, seal }: { log: Log; seal: ChainSeal }) {
  const { hash, sequence, sealedAt, keyId = null } = seal
  const [noted, setNoted] = useState('')
  const isWhole = /^[0-9a-f]{64}$/.test(noted.trim().toLowerCase())
  const isSame = noted.trim().toLowerCase() === hash
  return (
    <>
      <Facts
        facts={[
          [
            t('Head'),
            <span key="h">
              <span className="code">{hash}</span>
              <CopyButton text={hash} label={t('Copy the head')} />
            </span>,
          ],
          [t('Seal'), `${sequence} · ${formatTime(sealedAt)}`],
          [t('Signed by the key'), keyId],
        ]}
      />
      <p className="my-3 text-quiet">
        {t(
          'Note the head down outside of this service. Nobody who rewrites the audit log can make the same head again.',
        )}
      </p>
      <NotedHead log={log} seal={seal} />
      <div className="max-w-xl">
        <TextField
          label={t('Compare with a head that you noted')}
          value={noted}
          spellCheck={false}
          autoComplete="off"
          error={noted !== '' && !isWhole ? t('A head has 64 digits and letters from a to f.') : null}
          onChange={({ target }) => setNoted(target.value)}
        />
      </div>
      {isWhole && (
        <p role="status">
          {isSame ? (
            <Badge tone="good">{t('The heads are the same')}</Badge>
          ) : (
            <Badge tone="warn">{t('The heads differ: an older head is the hash of an older seal')}</Badge>
          )}
        </p>
      )}
    </>
  )
}
