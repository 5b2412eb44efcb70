import { useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { slotClass } from './decimal-input.tsx'
import { boundsOf, isSame, type Matrix, type MatrixPolicy, matrixOf, type Outcome, type Span } from './matrix.ts'
import type { Vocabulary } from './queries.ts'
import { listOf } from './selectors.ts'
import { votersWords } from './words.ts'

type MatrixTableProps = {
  policies: readonly MatrixPolicy[]
  /** The saved policies. Outcomes that a draft changes are marked. */
  saved?: readonly MatrixPolicy[]
  vocabulary: Vocabulary
  tokenFirst?: string | undefined
}

/** The outcome of a transfer, by its amount and by the group of the initiator. */
export function PolicyMatrix({ policies, saved, vocabulary, tokenFirst }: MatrixTableProps) {
  const tokens = tokensOf(policies, vocabulary)
  const [chosen, choose] = useState<string>()
  const token = chosen ?? tokenFirst ?? tokens[0]
  if (token === undefined) return <Empty>{t('The vault has no token yet.')}</Empty>
  const everyone = vocabulary.everyoneId
  const groupIds = rowsOf([...policies, ...(saved ?? [])], vocabulary)
  const bounds = boundsOf([...policies, ...(saved ?? [])])
  const matrix = matrixOf(policies, { token, groupIds, everyoneId: everyone, bounds })
  const before = saved === undefined ? undefined : matrixOf(saved, { token, groupIds, everyoneId: everyone, bounds })
  return (
    <>
      <label className="mb-3 inline-flex items-center gap-2">
        {t('Token')}
        <select className={slotClass} value={token} onChange={({ target }) => choose(target.value)}>
          {[...new Set([token, ...tokens])].map((code) => (
            <option key={code}>{code}</option>
          ))}
        </select>
      </label>
      <Cells {...{ matrix, before, token, vocabulary, policies }} />
    </>
  )
}

/** Returns the tokens, with those that policies name first. */
function tokensOf(policies: readonly MatrixPolicy[], { choices }: Vocabulary): string[] {
  const clauses = policies.flatMap(({ rules }) => rules.flatMap(({ selectors }) => selectors))
  const known = choices.token.map(({ id }) => id)
  const named = clauses
    .filter(({ selectorType }) => selectorType === 'token')
    .flatMap(({ value }) => listOf<string>(value))
    .filter((value) => known.includes(value))
  return [...new Set([...named, ...known])]
}

/** Returns the groups that have a policy for transfers. Every other group has the outcome of `everyone`. */
function rowsOf(policies: readonly MatrixPolicy[], { groups, everyoneId }: Vocabulary): string[] {
  const used = new Set(policies.filter(({ actionType }) => actionType === 'transfer').map(({ groupId }) => groupId))
  const named = groups.filter(({ id }) => used.has(id) && id !== everyoneId).map(({ id }) => id)
  return everyoneId === null ? named : [...named, everyoneId]
}

type CellsProps = {
  matrix: Matrix
  before: Matrix | undefined
  token: string
  vocabulary: Vocabulary
  policies: readonly MatrixPolicy[]
}

function Cells({ matrix, before, token, vocabulary, policies }: CellsProps) {
  const nameOf = (id: string) => policies.find((policy) => policy.id === id)?.name ?? id
  return (
    // A wide table is scrolled by keyboard, too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable.
    <section aria-label={t('Outcome by amount and group')} tabIndex={0} className="overflow-x-auto">
      <table className="w-full min-w-xl border-collapse text-left">
        <caption className="sr-only">{t('Outcome by amount and group')}</caption>
        <thead>
          <tr className="border-b border-line text-[0.8125rem] text-quiet">
            <th scope="col" className="px-3 py-2 font-medium">
              {t('Who orders')}
            </th>
            {matrix.spans.map((span, index) => (
              <th key={index} scope="col" className="figures px-3 py-2 font-medium">
                {spanWords(span, token)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.rows.map(({ groupId, outcomes }, row) => (
            <tr key={groupId} className="border-b border-line align-top">
              <th scope="row" className="px-3 py-2 font-medium">
                {groupId === vocabulary.everyoneId ? t('Anyone else') : vocabulary.names('policy_group', groupId)}
              </th>
              {outcomes.map((outcome, column) => {
                const changed = before !== undefined && hasChanged(matrix.spans[column]!, outcome, before, row)
                return (
                  <td key={column} className={`px-3 py-2 ${changed ? 'bg-accent-soft' : ''}`}>
                    <OutcomeCell {...{ outcome, vocabulary, nameOf }} />
                    {changed && <span className="text-[0.8125rem] font-medium text-accent">{t('changes')}</span>}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/**
 * Returns true if an overlapping span had another outcome before. The columns of two matrices may be merged
 * differently, so each span is compared with every overlapping span.
 */
function hasChanged(span: Span, outcome: Outcome, before: Matrix, row: number): boolean {
  return before.spans.some(
    (other, index) => overlaps(span, other) && !isSame(outcome, before.rows[row]!.outcomes[index]!),
  )
}

/** Spans are cut at the same bounds, so rounding cannot make separate spans overlap. */
function overlaps(a: Span, b: Span): boolean {
  const startsBefore = (first: Span, second: Span) => {
    if (second.high === null) return true
    const [low, high] = [Number(first.low), Number(second.high)]
    return low < high || (low === high && first.lowIncluded && second.highIncluded)
  }
  return startsBefore(a, b) && startsBefore(b, a)
}

type OutcomeCellProps = { outcome: Outcome; vocabulary: Vocabulary; nameOf: (id: string) => string }

function OutcomeCell({ outcome, vocabulary, nameOf }: OutcomeCellProps) {
  return (
    <>
      <OutcomeBadge result={outcome.result} />
      {outcome.votes.map(({ policyId, threshold, approvers, groupId }) => (
        <p key={policyId} className="mt-1">
          {t('{count} of {who}', {
            count: threshold,
            who: votersWords(approvers, groupId, vocabulary.names),
          })}
        </p>
      ))}
      {outcome.depends.length > 0 && (
        <p className="mt-1 text-[0.8125rem] text-quiet">
          {t('Sometimes also: {names}', { names: outcome.depends.map(nameOf).join(', ') })}
        </p>
      )}
    </>
  )
}

export function OutcomeBadge({ result }: { result: Outcome['result'] }) {
  if (result === 'allow') return <Badge tone="good">{t('Goes at once')}</Badge>
  if (result === 'approval') return <Badge tone="waiting">{t('Waits for votes')}</Badge>
  if (result === 'block') return <Badge tone="bad">{t('Refused')}</Badge>
  return <Badge tone="neutral">{t('Not allowed')}</Badge>
}

function spanWords({ low, lowIncluded, high, highIncluded }: Span, token: string): string {
  const from = `${formatAmount(low)} ${token}`
  if (high === null) {
    if (low === '0') return t('Any amount')
    return lowIncluded ? t('From {from}', { from }) : t('Above {from}', { from })
  }
  const to = `${formatAmount(high)} ${token}`
  if (low === high) return t('Exactly {to}', { to })
  if (low === '0') return highIncluded ? t('Up to {to}', { to }) : t('Below {to}', { to })
  const words = { from: formatAmount(low), to }
  if (lowIncluded) return highIncluded ? t('From {from} to {to}', words) : t('From {from} to below {to}', words)
  return highIncluded ? t('Above {from} to {to}', words) : t('Above {from} to below {to}', words)
}
