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
  /** The policies as they are saved: what a draft changes is marked. */
  saved?: readonly MatrixPolicy[]
  vocabulary: Vocabulary
  tokenFirst?: string | undefined
}

/** What becomes of a transfer, by its amount and by the group of the initiator. */
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
          {[...new Set([token, ...tokens])].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <Cells {...{ matrix, before, token, vocabulary, policies }} />
    </>
  )
}

/** The tokens that policies name come first. */
function tokensOf(policies: readonly MatrixPolicy[], { choices }: Vocabulary): string[] {
  const clauses = policies.flatMap(({ rules }) => rules.flatMap(({ selectors }) => selectors))
  const known = choices.token.map(({ id }) => id)
  const named = clauses
    .filter(({ selectorType }) => selectorType === 'token')
    .flatMap(({ value }) => listOf<string>(value))
    .filter((each) => known.includes(each))
  return [...new Set([...named, ...known])]
}

/** Groups that have a policy about transfers; all others are decided like everyone. */
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

/** The columns of two matrices may be merged differently: each span is compared with every one that it overlaps. */
function hasChanged(span: Span, outcome: Outcome, before: Matrix, row: number): boolean {
  return before.spans.some(
    (other, index) => overlaps(span, other) && !isSame(outcome, before.rows[row]!.outcomes[index]!),
  )
}

/** Spans are cut at the same bounds, so that rounding cannot make two of them overlap that do not. */
function overlaps(a: Span, b: Span): boolean {
  const startsBefore = (one: Span, other: Span) => {
    if (other.high === null) return true
    const [low, high] = [Number(one.low), Number(other.high)]
    return low < high || (low === high && one.lowIncluded && other.highIncluded)
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
