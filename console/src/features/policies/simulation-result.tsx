import type { PolicySimulation } from '@strongroom/sdk'
import { Check, X } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { OutcomeBadge } from './matrix-table.tsx'
import type { Vocabulary } from './queries.ts'
import { traceLines } from './trace.ts'

type Trace = PolicySimulation['trace']
type SimulationResultProps = {
  result: PolicySimulation
  vocabulary: Vocabulary
  /** Returns the name of a policy by its id or, for a draft, by its code. */
  nameOf: (id: string, code: string) => string
}

/** The simulated decision, with the deciding policies and the reasons. */
export function SimulationResult({ result, vocabulary, nameOf }: SimulationResultProps) {
  const { effect, blockReason, requirements, funds, trace } = result
  return (
    <div className="grid gap-3" aria-live="polite">
      <div className="flex flex-wrap items-center gap-3">
        <OutcomeBadge result={effect} />
        {blockReason !== null && <span>{blockReason}</span>}
        {effect === 'deny' && <span>{t('No policy allows this order.')}</span>}
      </div>
      {requirements.length > 0 && (
        <ul className="grid gap-1">
          {requirements.map(({ policyId, policyCode, threshold, bypassed }) => (
            <li key={policyId}>
              {t('{count, plural, one {# vote} other {# votes}} under “{policy}”', {
                count: threshold,
                policy: nameOf(policyId, policyCode),
              })}
              {bypassed && ` · ${t('waived for administrators')}`}
            </li>
          ))}
        </ul>
      )}
      {funds !== null && funds.missing !== '0' && (
        <p className="text-warn">{t('The address lacks {missing} for this order.', { missing: funds.missing })}</p>
      )}
      <TraceList {...{ trace, vocabulary, nameOf }} />
    </div>
  )
}

/** Every candidate policy, with its conditions as they were evaluated. */
export function TraceList({ trace, vocabulary, nameOf }: Omit<SimulationResultProps, 'result'> & { trace: Trace }) {
  if (trace.length === 0) return <p className="text-quiet">{t('No policy concerns this order.')}</p>
  return (
    <ul className="grid gap-2">
      {trace.map((policy) => (
        <li key={policy.policyId} className="rounded-md border border-line p-3">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <span className="font-medium">{nameOf(policy.policyId, policy.policyCode)}</span>
            {policy.inDoubt ? (
              <Badge tone="warn">{t('In doubt')}</Badge>
            ) : policy.matched ? (
              <Badge tone="good">{t('Applies')}</Badge>
            ) : (
              <Badge tone="neutral">{t('Does not apply')}</Badge>
            )}
          </div>
          <ul className="mt-1 grid gap-1 text-[0.875rem]">
            {traceLines(policy, vocabulary.names).map(({ text, observed, matched }, index) => (
              <li key={index} className="flex gap-2">
                {matched ? (
                  <Check size={15} className="mt-1 shrink-0 text-good" aria-label={t('condition met')} />
                ) : (
                  <X size={15} className="mt-1 shrink-0 text-quiet" aria-label={t('condition not met')} />
                )}
                <span>
                  {text} <span className="text-quiet">· {t('found: {observed}', { observed })}</span>
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}
