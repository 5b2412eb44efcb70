import { Trash2 } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { zone } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { ClauseValue, withOperator } from './clause-value.tsx'
import { slotClass } from './decimal-input.tsx'
import type { Vocabulary } from './queries.ts'
import { emptyValueOf, formOf, type SelectorDescription } from './selectors.ts'
import type { Clause, Term } from './terms.ts'
import { operatorWords, subjectWord, unitOf } from './words.ts'

type ConditionProps = {
  term: Term
  terms: readonly Term[]
  selectors: readonly SelectorDescription[]
  vocabulary: Vocabulary
  errorOf: (clause: number) => string | undefined
  onChange: (term: Term | null) => void
}

/** A condition of the sentence: the property, the operator and the value. */
export function Condition({ term, terms, selectors, vocabulary, errorOf, onChange }: ConditionProps) {
  const change = (index: number, clause: Clause | null, negated = term.negated) => {
    const clauses = term.clauses.flatMap((other, at) => (at === index ? (clause === null ? [] : [clause]) : [other]))
    onChange(clauses.length === 0 ? null : { negated, clauses })
  }
  return (
    <li className="border-t border-line py-3">
      {term.clauses.map((clause, index) => (
        <div key={`${index}-${clause.selectorType}`} className="mb-2">
          <div className="flex flex-wrap items-center gap-2">
            <span className="w-9 text-quiet">{index === 0 ? t('and') : t('or')}</span>
            <ClauseSlots
              {...{ clause, terms, selectors, vocabulary }}
              negated={term.negated}
              alone={term.clauses.length === 1}
              onChange={(next, negated) => change(index, next, negated)}
            />
            <button
              type="button"
              aria-label={t('Remove this condition')}
              className="grid size-9 place-items-center text-quiet hover:text-bad"
              onClick={() => change(index, null)}
            >
              <Trash2 size={16} aria-hidden />
            </button>
            {!term.negated && index === term.clauses.length - 1 && (
              <Button
                look="quiet"
                disabledBecause={selectors.length > 0 ? null : t('Loading')}
                onClick={() => onChange({ ...term, clauses: [...term.clauses, clauseFor(selectors[0]!)] })}
              >
                {t('or …')}
              </Button>
            )}
          </div>
          {errorOf(index) !== undefined && (
            <p role="alert" className="mt-1 ml-11 text-[0.8125rem] text-bad">
              {errorOf(index)}
            </p>
          )}
        </div>
      ))}
    </li>
  )
}

export function clauseFor(selector: SelectorDescription): Clause {
  return { selectorType: selector.selectorType, value: emptyValueOf(formOf(selector), zone) }
}

type ClauseSlotsProps = Pick<ConditionProps, 'terms' | 'selectors' | 'vocabulary'> & {
  clause: Clause
  negated: boolean
  /** True if the condition has a single clause. Only such a condition can be negated. */
  alone: boolean
  onChange: (clause: Clause, negated: boolean) => void
}

function ClauseSlots({ clause, negated, alone, terms, selectors, vocabulary, onChange }: ClauseSlotsProps) {
  const selector = selectors.find(({ selectorType }) => selectorType === clause.selectorType)
  if (selector === undefined) return <span className="text-bad">{clause.selectorType}</span>
  const form = formOf(selector)
  const label = subjectWord(selector.selectorType, selector.label)
  return (
    <>
      <select
        aria-label={t('What is compared')}
        className={slotClass}
        value={clause.selectorType}
        onChange={({ target }) => {
          const next = selectors.find(({ selectorType }) => selectorType === target.value)!
          onChange(clauseFor(next), formOf(next).kind === 'comparison' ? false : negated)
        }}
      >
        {selectors.map((option) => (
          <option key={option.selectorType} value={option.selectorType}>
            {subjectWord(option.selectorType, option.label)}
          </option>
        ))}
      </select>
      <Relation {...{ clause, negated, alone, selector, onChange }} />
      <ClauseValue
        {...{ form, label, vocabulary }}
        selectorType={clause.selectorType}
        value={clause.value}
        unit={unitOf(clause.selectorType, terms, vocabulary.names)}
        onChange={(value) => onChange({ ...clause, value }, negated)}
      />
    </>
  )
}

type RelationProps = Pick<ClauseSlotsProps, 'clause' | 'negated' | 'alone' | 'onChange'> & {
  selector: SelectorDescription
}

/**
 * The operator of a condition: a comparison of size, or "is" and "is not". A negated comparison shows "not" before
 * its operator.
 */
function Relation({ clause, negated, alone, selector, onChange }: RelationProps) {
  const words = operatorWords()
  const compares = selector.operators.length > 0
  const { op } = clause.value as { op?: string }
  const relations = compares
    ? selector.operators.map((operator) => [operator, words[operator] ?? operator] as const)
    : (
        [
          ['is', t('is')],
          ['is_not', t('is not')],
        ] as const
      ).slice(0, alone ? 2 : 1)
  return (
    <>
      {compares && negated && <span>{t('not')}</span>}
      <select
        aria-label={t('How it is compared')}
        className={slotClass}
        value={compares ? op : negated ? 'is_not' : 'is'}
        onChange={({ target }) => {
          if (!compares) return onChange(clause, target.value === 'is_not')
          onChange({ ...clause, value: withOperator(clause.value as { op: string }, target.value) }, negated)
        }}
      >
        {relations.map(([relation, word]) => (
          <option key={relation} value={relation}>
            {word}
          </option>
        ))}
      </select>
    </>
  )
}
