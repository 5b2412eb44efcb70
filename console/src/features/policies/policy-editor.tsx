import type { PolicyListItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { isComplete, SentenceBuilder } from './builder.tsx'
import { FaultList } from './fault-list.tsx'
import { faultsOf, nothingAllows } from './faults.ts'
import { draftedPolicy, needsItsDraft, type RulesDraft, withGroupsOf } from './into.ts'
import type { Into } from './into-search.ts'
import type { MatrixPolicy } from './matrix.ts'
import { PolicyMatrix } from './matrix-table.tsx'
import { selectorsQuery, type Vocabulary } from './queries.ts'
import { ReviewSheet } from './review-sheet.tsx'
import { useSaving } from './saving.ts'
import { listOf, type SelectorDescription } from './selectors.ts'
import { bodyOf, codeOf, type Draft, draftOf, emptyDraft, type PolicyParts } from './terms.ts'
import { TryHistory } from './try-history.tsx'
import { TryOrder } from './try-order.tsx'

type PolicyEditorProps = {
  code: string
  /** The changed policy; undefined for a new policy. */
  policy?: PolicyListItem | undefined
  policies: readonly PolicyListItem[]
  vocabulary: Vocabulary
  /** The draft of the rules that receives the policy, and the edited change in it. */
  into: Into
  set: RulesDraft
}

/** The sentence of a policy, and beside it the effects of the policy. */
export function PolicyEditor({ code, policy, policies, into, set, ...props }: PolicyEditorProps) {
  const vocabulary = withGroupsOf(props.vocabulary, set, into.at)
  const drafted = draftedPolicy(set, into.at, policy)
  const at = drafted === undefined ? undefined : into.at
  const [draft, setDraft] = useState<Draft>(drafted ?? startOf(policy, vocabulary))
  const [reviewing, review] = useState(false)
  const [editedFrom, setEditedFrom] = useState(policy?.updatedAt)
  const selectors = useQuery(selectorsQuery(code))
  const taken = policies.map((other) => other.code)
  const body = bodyOf({ ...draft, code: policy?.code ?? (drafted?.code || codeOf(draft.name, taken)) })
  const tried = { ...body, groupId: draft.groupId }
  const close = () => review(false)
  const { saving, errors } = useSaving({ code, policy, groupId: draft.groupId, body, set, at, close })
  const after = changed(policies, tried, policy?.id)
  const nameOf = (id: string, policyCode: string) =>
    policyCode === body.code && body.name !== ''
      ? body.name
      : (policies.find((other) => other.id === id)?.name ?? policyCode)
  return (
    <div className="grid items-start gap-4 2xl:grid-cols-2">
      <div className="min-w-0">
        {policy !== undefined && policy.updatedAt !== editedFrom && !saving.isSuccess && (
          <ChangedMeanwhile
            load={() => {
              setDraft(draftOf(policy))
              setEditedFrom(policy.updatedAt)
            }}
          />
        )}
        <SentenceBuilder
          {...{ draft, vocabulary, errors }}
          onChange={setDraft}
          selectorsOf={(actionType) =>
            (selectors.data?.actionTypes.find((action) => action.actionType === actionType)?.selectors ??
              []) as SelectorDescription[]
          }
          isSaved={policy !== undefined}
        />
        <div className="mb-4 flex flex-wrap gap-2">
          <Button
            look="primary"
            disabledBecause={
              isComplete(draft) ? null : t('Fill every slot of the sentence, and give the policy a name.')
            }
            onClick={() => review(true)}
          >
            {t('Review and save')}
          </Button>
        </div>
        {saving.isError && errors.size === 0 && (
          <Failed error={saving.error} retry={() => saving.mutate(saving.variables)} />
        )}
      </div>
      <Effects {...{ code, draft, policies, after, vocabulary, nameOf, tried }} />
      <ReviewSheet
        {...{ code, policy, draft, vocabulary }}
        into={into.draft ?? ''}
        isPlaced={at !== undefined}
        open={reviewing}
        onClose={close}
        busy={saving.isPending}
        onSave={saving.mutate}
      />
    </div>
  )
}

/** Returns the first draft of a policy. A new policy starts in the group with the most policies. */
function startOf(policy: PolicyListItem | undefined, { groups }: Vocabulary): Draft {
  if (policy !== undefined) return draftOf(policy)
  const [first] = groups.toSorted((a, b) => b.policies.length - a.policies.length)
  return emptyDraft(first!.id)
}

/** Says that another person has saved the policy. The typed text stays until the reader decides. */
function ChangedMeanwhile({ load }: { load: () => void }) {
  return (
    <div role="alert" className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft p-4 text-warn">
      <p>{t('This policy was changed meanwhile. Saving replaces that change.')}</p>
      <Button onClick={load}>{t('Load the changed policy')}</Button>
    </div>
  )
}

type Tried = ReturnType<typeof bodyOf> & { groupId: string }

/** Returns the policies with the draft in its place. */
function changed(policies: readonly PolicyListItem[], tried: Tried, id: string | undefined): MatrixPolicy[] {
  const draft = { ...(tried as unknown as PolicyParts), id: id ?? 'draft' }
  return id === undefined ? [...policies, draft] : policies.map((other) => (other.id === id ? draft : other))
}

type EffectsProps = Pick<PolicyEditorProps, 'code' | 'policies' | 'vocabulary'> & {
  draft: Draft
  after: MatrixPolicy[]
  tried: Tried
  nameOf: (id: string, code: string) => string
}

/**
 * The effects of the draft: its faults, the matrix of all policies with it, and trials with an order and with past
 * transfers.
 */
function Effects({ code, draft, policies, after, vocabulary, nameOf, tried }: EffectsProps) {
  const faults = [
    ...faultsOf(tried as unknown as PolicyParts, vocabulary.memberIds),
    ...(nothingAllows(after, draft.actionType) ? [{ kind: 'nothing_allows' as const }] : []),
  ]
  const named = draft.terms
    .flatMap(({ clauses }) => clauses)
    .filter(({ selectorType }) => selectorType === 'token')
    .flatMap(({ value }) => listOf<string>(value))
  const isAlone = !needsItsDraft(draft)
  const tryable = {
    mode: 'add' as const,
    policies: [{ ...tried, name: tried.name === '' ? t('This draft') : tried.name }],
  }
  return (
    <div className="min-w-0">
      {faults.length > 0 && (
        <Card title={t('Faults of this policy')}>
          <FaultList faults={faults} vocabulary={vocabulary} />
        </Card>
      )}
      {draft.actionType === 'transfer' && (
        <>
          <Card title={t('All policies together')}>
            <PolicyMatrix
              key={named[0]}
              policies={after}
              saved={policies}
              vocabulary={vocabulary}
              tokenFirst={named[0]}
            />
          </Card>
          {isAlone && (
            <Card title={t('Try it on one order')}>
              <TryOrder key={named[0]} {...{ code, vocabulary, nameOf }} tokenFirst={named[0]} draft={tryable} />
            </Card>
          )}
        </>
      )}
      <Card title={t('Try it on history')}>
        {isAlone ? (
          <TryHistory
            {...{ code, vocabulary, nameOf }}
            tried={{ draft: tryable }}
            disabledBecause={
              isComplete(draft) ? null : t('Fill every slot of the sentence, and give the policy a name.')
            }
          />
        ) : (
          <p>{t('This policy needs a group that only the draft has: save the policy, and try the whole draft.')}</p>
        )}
      </Card>
    </div>
  )
}
