import type { PolicyListItem } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { fieldErrors } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { isComplete, SentenceBuilder } from './builder.tsx'
import { FaultList } from './fault-list.tsx'
import { faultsOf, nothingAllows } from './faults.ts'
import type { MatrixPolicy } from './matrix.ts'
import { PolicyMatrix } from './matrix-table.tsx'
import { selectorsQuery, type Vocabulary } from './queries.ts'
import { listOf, type SelectorDescription } from './selectors.ts'
import { bodyOf, codeOf, type Draft, draftOf, emptyDraft, type PolicyParts } from './terms.ts'
import { TryHistory } from './try-history.tsx'
import { TryOrder } from './try-order.tsx'
import { sentenceOf } from './words.ts'

type PolicyEditorProps = {
  code: string
  /** The policy that is changed; undefined for a new one. */
  policy?: PolicyListItem | undefined
  policies: readonly PolicyListItem[]
  vocabulary: Vocabulary
}

/** The sentence of a policy, and beside it what it would do. */
export function PolicyEditor({ code, policy, policies, vocabulary }: PolicyEditorProps) {
  // A new policy is most often about the group that has most policies already.
  const [first] = vocabulary.groups.toSorted((a, b) => b.policies.length - a.policies.length)
  const [draft, setDraft] = useState<Draft>(policy === undefined ? emptyDraft(first!.id) : draftOf(policy))
  const [reviewing, review] = useState(false)
  const [editedFrom, setEditedFrom] = useState(policy?.updatedAt)
  const selectors = useQuery(selectorsQuery(code))
  const taken = policies.map((each) => each.code)
  const body = bodyOf({ ...draft, code: policy?.code ?? codeOf(draft.name, taken) })
  const tried = { ...body, groupId: draft.groupId }
  const saving = useSaving({ code, policy, groupId: draft.groupId, body, close: () => review(false) })
  const errors = fieldErrors(saving.error)
  const after = changed(policies, tried, policy?.id)
  const nameOf = (id: string, policyCode: string) =>
    policyCode === body.code && body.name !== ''
      ? body.name
      : (policies.find((each) => each.id === id)?.name ?? policyCode)
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
            (selectors.data?.actionTypes.find((each) => each.actionType === actionType)?.selectors ??
              []) as SelectorDescription[]
          }
          isSaved={policy !== undefined}
        />
        <div className="mb-4 flex flex-wrap gap-2">
          <Button
            look="primary"
            disabledBecause={isComplete(draft) ? null : t('Fill every slot of the sentence and give it a name.')}
            onClick={() => review(true)}
          >
            {t('Review and save')}
          </Button>
        </div>
        {saving.isError && errors.size === 0 && <Failed error={saving.error} retry={() => saving.mutate()} />}
      </div>
      <Effects {...{ code, draft, policies, after, vocabulary, nameOf, tried }} />
      <ReviewSheet
        {...{ policy, draft, vocabulary }}
        open={reviewing}
        onClose={() => review(false)}
        busy={saving.isPending}
        onSave={() => saving.mutate()}
      />
    </div>
  )
}

/** Somebody else has saved the policy: what was typed here stays until the reader decides. */
function ChangedMeanwhile({ load }: { load: () => void }) {
  return (
    <div role="alert" className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft p-4 text-warn">
      <p>{t('This policy was changed meanwhile. Saving replaces that change.')}</p>
      <Button onClick={load}>{t('Load the changed policy')}</Button>
    </div>
  )
}

type Tried = ReturnType<typeof bodyOf> & { groupId: string }

/** The policies as they would be with the draft. */
function changed(policies: readonly PolicyListItem[], tried: Tried, id: string | undefined): MatrixPolicy[] {
  const draft = { ...(tried as unknown as PolicyParts), id: id ?? 'draft' }
  return id === undefined ? [...policies, draft] : policies.map((each) => (each.id === id ? draft : each))
}

type EffectsProps = Pick<PolicyEditorProps, 'code' | 'policies' | 'vocabulary'> & {
  draft: Draft
  after: MatrixPolicy[]
  tried: Tried
  nameOf: (id: string, code: string) => string
}

/** What the draft would do: its faults, the matrix of all policies with it, one order and the past transfers that are tried. */
function Effects({ code, draft, policies, after, vocabulary, nameOf, tried }: EffectsProps) {
  const faults = [
    ...faultsOf(tried as unknown as PolicyParts, vocabulary.memberIds),
    ...(nothingAllows(after, draft.actionType) ? [{ kind: 'nothing_allows' as const }] : []),
  ]
  const named = draft.terms
    .flatMap(({ clauses }) => clauses)
    .filter(({ selectorType }) => selectorType === 'token')
    .flatMap(({ value }) => listOf<string>(value))
  const tryable = {
    mode: 'add' as const,
    policies: [{ ...tried, name: tried.name === '' ? t('This draft') : tried.name }],
  }
  return (
    <div className="min-w-0">
      {faults.length > 0 && (
        <Card title={t('Look at this')}>
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
          <Card title={t('Try it on one order')}>
            <TryOrder key={named[0]} {...{ code, vocabulary, nameOf }} tokenFirst={named[0]} draft={tryable} />
          </Card>
        </>
      )}
      <Card title={t('Try it on history')}>
        <TryHistory
          {...{ code, vocabulary, nameOf }}
          tried={{ draft: tryable }}
          disabledBecause={isComplete(draft) ? null : t('Fill every slot of the sentence and give it a name.')}
        />
      </Card>
    </div>
  )
}

type SavingProps = {
  code: string
  policy: PolicyListItem | undefined
  groupId: string
  body: ReturnType<typeof bodyOf>
  close: () => void
}

function useSaving({ code, policy, groupId, body, close }: SavingProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  // A lost answer is repeated with the same key, so that no second policy is made.
  const idempotencyKey = useRef(crypto.randomUUID())
  return useMutation({
    mutationFn: () => {
      const { policies } = vaultOf(code)
      if (policy === undefined) return policies.create(groupId, body, { idempotencyKey: idempotencyKey.current })
      const { code: _, ...change } = body
      return policies.update(policy.id, change)
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['policies', code] })
      announce(policy === undefined ? t('The policy is saved') : t('The policy is changed'))
      await navigate({ to: '/v/$code/policies', params: { code } })
    },
    onError: () => {
      // What was refused was not carried out: the corrected policy is another request.
      idempotencyKey.current = crypto.randomUUID()
      close()
    },
  })
}

type ReviewSheetProps = Pick<PolicyEditorProps, 'policy' | 'vocabulary'> & {
  draft: Draft
  open: boolean
  busy: boolean
  onClose: () => void
  onSave: () => void
}

/** The policy before and after, once more, before it decides. */
function ReviewSheet({ policy, draft, vocabulary, open, busy, onClose, onSave }: ReviewSheetProps) {
  const before = policy === undefined ? null : draftOf(policy)
  return (
    <Sheet
      wide
      open={open}
      onClose={onClose}
      title={policy === undefined ? t('Save this policy?') : t('Change this policy?')}
    >
      <dl className="grid gap-3">
        {before !== null && <Version title={t('Before')} draft={before} vocabulary={vocabulary} />}
        <Version title={before === null ? t('New policy') : t('After')} draft={draft} vocabulary={vocabulary} />
      </dl>
      <p className="my-4 text-quiet">
        {t(
          'It decides from the next order on. All administrators, and the people who vote under it, get a mail about it.',
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" busy={busy} onClick={onSave}>
          {t('Save')}
        </Button>
        <Button onClick={onClose}>{t('Back')}</Button>
      </div>
    </Sheet>
  )
}

function Version({ title, draft, vocabulary }: { title: string; draft: Draft; vocabulary: Vocabulary }) {
  const settings = [
    draft.enabled ? t('in force') : t('switched off'),
    ...(draft.effect === 'requireApproval' && draft.allowInitiatorApproval ? [t('who orders may vote, too')] : []),
    ...(draft.effect === 'requireApproval' && draft.adminBypass ? [t('no votes for orders of administrators')] : []),
    ...(draft.effect === 'block' && draft.blockReason !== ''
      ? [t('tells: “{reason}”', { reason: draft.blockReason })]
      : []),
  ]
  return (
    <div className="rounded-md border border-line p-3">
      <dt className="text-[0.8125rem] text-quiet">{title}</dt>
      <dd>
        <p className="font-medium">{draft.name}</p>
        <p>{sentenceOf(draft, vocabulary.names)}</p>
        <p className="text-quiet">{settings.join(' · ')}</p>
      </dd>
    </div>
  )
}
