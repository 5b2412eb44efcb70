import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Condition, clauseFor } from './condition.tsx'
import { slotClass } from './decimal-input.tsx'
import type { Vocabulary } from './queries.ts'
import { isFilled, type SelectorDescription } from './selectors.ts'
import { type ActionType, clausePaths, type Draft } from './terms.ts'
import { ThenPart } from './then-part.tsx'
import { actionWords, sentenceOf } from './words.ts'

type SelectorsOf = (actionType: ActionType) => readonly SelectorDescription[]

type SentenceBuilderProps = {
  draft: Draft
  onChange: (draft: Draft) => void
  selectorsOf: SelectorsOf
  vocabulary: Vocabulary
  errors: ReadonlyMap<string, string>
  /** True if the policy is saved: its group cannot change any more. */
  isSaved: boolean
}

/** A policy as a sentence with slots. */
export function SentenceBuilder({ draft, onChange, selectorsOf, vocabulary, errors, isSaved }: SentenceBuilderProps) {
  const selectors = selectorsOf(draft.actionType)
  const paths = clausePaths(draft)
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  return (
    <Card title={t('The policy as a sentence')}>
      <WhoAndWhat {...{ draft, selectorsOf, vocabulary, isSaved }} onChange={set} />
      <ul>
        {draft.terms.map((term, index) => (
          <Condition
            key={index}
            {...{ term, selectors, vocabulary, terms: draft.terms }}
            errorOf={(clause) => errorAt(errors, paths.get(`${index}.${clause}`))}
            onChange={(next) =>
              set({
                terms: draft.terms.flatMap((other, at) => (at === index ? (next === null ? [] : [next]) : [other])),
              })
            }
          />
        ))}
      </ul>
      <AddCondition
        isReady={selectors.length > 0}
        onAdd={() => set({ terms: [...draft.terms, { negated: false, clauses: [clauseFor(selectors[0]!)] }] })}
      />
      <ThenPart {...{ draft, vocabulary, errors }} onChange={set} />
      <div className="border-t border-line pt-4">
        <TextField
          label={t('Name')}
          required
          maxLength={200}
          value={draft.name}
          error={errors.get('name') ?? errors.get('code')}
          onChange={({ target }) => set({ name: target.value })}
        />
        <CheckField
          label={t('In force')}
          hint={t('A policy that is switched off decides nothing.')}
          checked={draft.enabled}
          onChange={({ target }) => set({ enabled: target.checked })}
        />
        <p aria-live="polite" className="rounded-md bg-ground p-3">
          {sentenceOf(draft, vocabulary.names)}
        </p>
      </div>
    </Card>
  )
}

function errorAt(errors: ReadonlyMap<string, string>, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  return [...errors].find(([field]) => field === path || field.startsWith(`${path}.`))?.[1]
}

/** Returns true if every condition has a value. A condition without a value would be refused. */
export function isComplete(draft: Draft): boolean {
  return draft.name.trim() !== '' && draft.terms.every(({ clauses }) => clauses.every(({ value }) => isFilled(value)))
}

/** The button is disabled until the selectors are loaded. */
function AddCondition({ isReady, onAdd }: { isReady: boolean; onAdd: () => void }) {
  return (
    <div className="border-t border-line py-2">
      <Button look="quiet" disabledBecause={isReady ? null : t('Loading')} onClick={onAdd}>
        {t('+ and …')}
      </Button>
    </div>
  )
}

type WhoAndWhatProps = Pick<SentenceBuilderProps, 'draft' | 'selectorsOf' | 'vocabulary' | 'isSaved'> & {
  onChange: (change: Partial<Draft>) => void
}

function WhoAndWhat({ draft, selectorsOf, vocabulary, isSaved, onChange }: WhoAndWhatProps) {
  const [dropped, setDropped] = useState(0)
  const changeAction = (actionType: ActionType) => {
    const applicable = new Set(selectorsOf(actionType).map(({ selectorType }) => selectorType))
    const terms = draft.terms.filter(({ clauses }) => clauses.every((clause) => applicable.has(clause.selectorType)))
    setDropped(draft.terms.length - terms.length)
    onChange({ actionType, terms })
  }
  return (
    <div className="pb-3">
      <div className="flex flex-wrap items-center gap-2">
        {t('When anyone in')}
        <select
          aria-label={t('Group')}
          className={`${slotClass} disabled:opacity-70`}
          value={draft.groupId}
          disabled={isSaved}
          title={isSaved ? t('The group of a policy cannot be changed. Make another policy.') : undefined}
          onChange={({ target }) => onChange({ groupId: target.value })}
        >
          {vocabulary.choices.policy_group.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        {t('orders')}
        <select
          aria-label={t('Action')}
          className={slotClass}
          value={draft.actionType}
          onChange={({ target }) => changeAction(target.value as ActionType)}
        >
          {Object.entries(actionWords()).map(([action, word]) => (
            <option key={action} value={action}>
              {word}
            </option>
          ))}
        </select>
      </div>
      {dropped > 0 && (
        <p role="status" className="mt-2 text-[0.8125rem] text-warn">
          {t(
            '{count, plural, one {# condition does not fit this action and was taken out.} other {# conditions do not fit this action and were taken out.}}',
            {
              count: dropped,
            },
          )}
        </p>
      )}
    </div>
  )
}
