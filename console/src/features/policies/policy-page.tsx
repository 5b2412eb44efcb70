import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { ListState, type Loading, NotFound } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { useDraftOfRules } from './into.ts'
import type { Into } from './into-search.ts'
import { EffectBadge } from './policies-page.tsx'
import { PolicyActions } from './policy-actions.tsx'
import { PolicyEditor } from './policy-editor.tsx'
import { policiesQuery, useVocabulary } from './queries.ts'
import { TemplateForm } from './template-form.tsx'
import { draftOf } from './terms.ts'
import { sentenceOf } from './words.ts'

/** The page of a policy. Administrators change it, others read it. */
export function PolicyPage({ code, id, into }: { code: string; id: string; into: Into }) {
  const isAdmin = useIsAdmin(code)
  const navigate = useNavigate()
  const policies = useQuery(policiesQuery(code))
  const { loading, vocabulary } = useVocabulary(code)
  const { query: draftQuery, set } = useDraftOfRules(code, into)
  const policy = policies.data?.find((candidate) => candidate.id === id)
  if (policies.isSuccess && policy === undefined) return <NotFound />
  const sentence = policy === undefined || vocabulary === undefined ? '' : sentenceOf(draftOf(policy), vocabulary.names)
  const actions =
    isAdmin && policy !== undefined ? (
      <PolicyActions
        {...{ code, policy, sentence }}
        onDeleted={() => void navigate({ to: '/v/$code/policies', params: { code } })}
      />
    ) : undefined
  return (
    <Page title={policy?.name ?? t('Policy')} actions={actions}>
      <ListState query={loadingOf(policies, set === undefined ? draftQuery : loading)} isEmpty={false} empty={null}>
        {policy !== undefined &&
          vocabulary !== undefined &&
          set !== undefined &&
          (isAdmin ? (
            <PolicyEditor {...{ code, policy, vocabulary, into, set }} policies={policies.data ?? []} />
          ) : (
            <Card>
              <p className="mb-4 text-lg">{sentence}</p>
              <Facts
                facts={[
                  [t('Effect'), <EffectBadge key="effect" effect={policy.effect} />],
                  [
                    t('State'),
                    <Badge key="state" tone={policy.enabled ? 'good' : 'neutral'}>
                      {policy.enabled ? t('In force') : t('Switched off')}
                    </Badge>,
                  ],
                  [t('Description'), policy.description],
                  [t('Message to the initiator'), policy.blockReason],
                  [t('Changed'), formatTime(policy.updatedAt)],
                ]}
              />
            </Card>
          ))}
      </ListState>
    </Page>
  )
}

/** Returns the query that still loads: the policies first, then the next. */
function loadingOf(policies: Loading & { isSuccess: boolean }, next: Loading): Loading {
  return policies.isSuccess ? next : policies
}

type NewPolicyPageProps = { code: string; fromTemplate: boolean; into: Into }

/** A new policy, empty or from a template. */
export function NewPolicyPage({ code, fromTemplate, into }: NewPolicyPageProps) {
  const isAdmin = useIsAdmin(code)
  const policies = useQuery(policiesQuery(code))
  const { loading, vocabulary } = useVocabulary(code)
  const { query: draftQuery, set } = useDraftOfRules(code, into)
  return (
    <Page title={fromTemplate ? t('Policies from a template') : t('New policy')}>
      <ListState
        query={loadingOf(policies, set === undefined ? draftQuery : loading)}
        isEmpty={!isAdmin}
        empty={<p>{t('Only administrators of the vault write policies.')}</p>}
      >
        {vocabulary !== undefined &&
          set !== undefined &&
          (fromTemplate ? (
            <TemplateForm {...{ code, vocabulary }} policies={policies.data ?? []} />
          ) : (
            <PolicyEditor {...{ code, vocabulary, into, set }} policies={policies.data ?? []} />
          ))}
      </ListState>
    </Page>
  )
}
