import type { PolicyListItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { FaultList } from './fault-list.tsx'
import { faultsOf, nothingAllows } from './faults.ts'
import { PolicyMatrix } from './matrix-table.tsx'
import { policiesQuery, useVocabulary, type Vocabulary } from './queries.ts'
import { type ActionType, draftOf } from './terms.ts'
import { TryOrder } from './try-order.tsx'
import { actionWords, sentenceOf } from './words.ts'

export type PolicyFilter = { action?: ActionType | undefined; group?: string | undefined }

type PoliciesPageProps = { code: string; filter: PolicyFilter; onFilter: (filter: PolicyFilter) => void }

/** Every policy of the vault: their combined outcome, each policy as a sentence, and a trial with an order. */
export function PoliciesPage({ code, filter, onFilter }: PoliciesPageProps) {
  const isAdmin = useIsAdmin(code)
  const policies = useQuery(policiesQuery(code))
  const { loading, vocabulary } = useVocabulary(code)
  const query = policies.isSuccess ? loading : policies
  const savedPolicies = policies.data ?? []
  const actions = isAdmin ? (
    <>
      <Link to="/v/$code/policies/new" params={{ code }} search={{ from: 'template' }} className={buttonClass()}>
        {t('Start from a template')}
      </Link>
      <Link to="/v/$code/policies/new" params={{ code }} className={buttonClass('primary')}>
        <Plus size={16} aria-hidden /> {t('New policy')}
      </Link>
    </>
  ) : undefined
  return (
    <Page title={t('Policies')} actions={actions}>
      <ListState query={query} isEmpty={false} empty={null}>
        {vocabulary !== undefined && (
          <>
            <Card title={t('Decisions on transfers')}>
              {nothingAllows(savedPolicies, 'transfer') && (
                <FaultList faults={[{ kind: 'nothing_allows' }]} vocabulary={vocabulary} />
              )}
              <PolicyMatrix policies={savedPolicies} vocabulary={vocabulary} />
            </Card>
            <PolicyList {...{ code, savedPolicies, vocabulary, filter, onFilter }} />
            <Card title={t('Try an order')}>
              <TryOrder
                {...{ code, vocabulary }}
                nameOf={(id, other) => savedPolicies.find((policy) => policy.id === id)?.name ?? other}
              />
            </Card>
          </>
        )}
      </ListState>
    </Page>
  )
}

type PolicyListProps = PoliciesPageProps & { savedPolicies: readonly PolicyListItem[]; vocabulary: Vocabulary }

function PolicyList({ code, savedPolicies, vocabulary, filter, onFilter }: PolicyListProps) {
  const words = actionWords()
  const shown = savedPolicies.filter(
    ({ actionType, groupId }) =>
      (filter.action === undefined || filter.action === actionType) &&
      (filter.group === undefined || filter.group === groupId),
  )
  const isFiltered = filter.action !== undefined || filter.group !== undefined
  return (
    <Card title={t('All policies')}>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <SelectField
          label={t('Action')}
          value={filter.action ?? ''}
          onChange={({ target }) =>
            onFilter({ ...filter, action: (target.value || undefined) as ActionType | undefined })
          }
        >
          <option value="">{t('Every action')}</option>
          {Object.entries(words).map(([action, word]) => (
            <option key={action} value={action}>
              {word}
            </option>
          ))}
        </SelectField>
        <SelectField
          label={t('Group')}
          value={filter.group ?? ''}
          onChange={({ target }) => onFilter({ ...filter, group: target.value || undefined })}
        >
          <option value="">{t('Every group')}</option>
          {vocabulary.choices.policy_group.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <ListState
        query={{ isPending: false, isError: false, error: null, refetch: () => undefined }}
        isEmpty={shown.length === 0}
        clearFilter={isFiltered ? () => onFilter({}) : undefined}
        empty={<p>{t('There is no policy yet: everything is refused. Start from a template, or write a policy.')}</p>}
      >
        <ul>
          {shown.map((policy) => (
            <PolicyRow key={policy.id} {...{ code, policy, vocabulary }} />
          ))}
        </ul>
      </ListState>
    </Card>
  )
}

function PolicyRow({ code, policy, vocabulary }: { code: string; policy: PolicyListItem; vocabulary: Vocabulary }) {
  const faults = faultsOf(policy, vocabulary.memberIds)
  return (
    <li className="border-t border-line py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Link
          to="/v/$code/policies/$id"
          params={{ code, id: policy.id }}
          className="font-medium text-accent underline-offset-2 hover:underline"
        >
          {policy.name}
        </Link>
        <span className="flex gap-2">
          <EffectBadge effect={policy.effect} />
          {!policy.enabled && <Badge tone="neutral">{t('Switched off')}</Badge>}
        </span>
      </div>
      <p className={`mt-1 ${policy.enabled ? '' : 'text-quiet'}`}>{sentenceOf(draftOf(policy), vocabulary.names)}</p>
      {faults.length > 0 && (
        <div className="mt-2">
          <FaultList faults={faults} vocabulary={vocabulary} />
        </div>
      )}
    </li>
  )
}

export function EffectBadge({ effect }: { effect: PolicyListItem['effect'] }) {
  if (effect === 'allow') return <Badge tone="good">{t('Allows')}</Badge>
  if (effect === 'block') return <Badge tone="bad">{t('Refuses')}</Badge>
  return <Badge tone="waiting">{t('Asks for votes')}</Badge>
}
