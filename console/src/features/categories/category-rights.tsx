import type { OperationCategory } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { SetPicker } from '../../ui/set-picker.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { groupsQuery, membersQuery } from '../people/queries.ts'
import { approversBody, type Grant, grantsBody, grantsOf, subjectOf } from './subjects.ts'

type RightsProps = { code: string; category: OperationCategory; isAdmin: boolean }

/** Returns people and groups as options. The kind is part of the id. */
function useSubjects(code: string) {
  const groups = useQuery(groupsQuery(code))
  const members = useQuery(membersQuery(code))
  return [
    ...(groups.data ?? []).map(({ id, name }) => ({ id: `group ${id}`, name: t('{name} (group)', { name }) })),
    ...(members.data ?? []).map(({ userId, name }) => ({ id: `user ${userId}`, name })),
  ]
}

/**
 * The people who may view, assign and edit where the scope is "only people with a grant", and who may change the
 * category itself.
 */
export function Grants({ code, category, isAdmin }: RightsProps) {
  const subjects = useSubjects(code)
  const [grants, setGrants] = useState(grantsOf(category))
  const write = useWrite({
    renews: ['categories', code],
    said: t('The grants are changed'),
    write: () => vaultOf(code).operationCategories.replaceGrants(category.id, { grants: grantsBody(grants) }),
  })
  const nameOf = (subject: string) => subjects.find(({ id }) => id === subject)?.name ?? subject
  const set = (subject: string, change: Partial<Grant>) =>
    setGrants(grants.map((grant) => (grant.subject === subject ? { ...grant, ...change } : grant)))
  const rights = { canView: t('View'), canAssign: t('Assign'), canEdit: t('Edit') } as const
  return (
    <Card title={t('Grants')}>
      <p className="mb-3 text-quiet">
        {t(
          'Grants apply where a scope is “Only people with a grant”. People who may edit can also change the name and the fields of the category.',
        )}
      </p>
      <ul className="mb-4">
        {grants.map((grant) => (
          <li key={grant.subject} className="border-t border-line py-2">
            <fieldset className="flex flex-wrap items-center gap-4" disabled={!isAdmin}>
              <legend className="float-left min-w-40 font-medium">{nameOf(grant.subject)}</legend>
              {Object.entries(rights).map(([right, word]) => (
                <label key={right} className="inline-flex min-h-9 items-center gap-2">
                  <input
                    type="checkbox"
                    className="accent-accent"
                    checked={grant[right as keyof typeof rights]}
                    onChange={({ target }) => set(grant.subject, { [right]: target.checked })}
                  />
                  {word}
                </label>
              ))}
            </fieldset>
          </li>
        ))}
      </ul>
      {isAdmin ? (
        <>
          <SetPicker
            label={t('People and groups')}
            options={subjects}
            chosen={grants.map(({ subject }) => subject)}
            onChange={(chosen) =>
              setGrants(
                chosen.map(
                  (subject) =>
                    grants.find((grant) => grant.subject === subject) ??
                    ({ subject, canView: true, canAssign: false, canEdit: false } satisfies Grant),
                ),
              )
            }
          />
          <WriteFailed write={write} />
          <Button look="primary" busy={write.isPending} onClick={() => write.mutate()}>
            {t('Save the grants')}
          </Button>
        </>
      ) : (
        grants.length === 0 && <p className="text-quiet">{t('You have no grants.')}</p>
      )}
    </Card>
  )
}

/** The approvers of assignments and edits. Without approvers, the administrators vote. */
export function Approvers({ code, category, isAdmin }: RightsProps) {
  const subjects = useSubjects(code)
  const [chosen, choose] = useState(
    category.approvers.map(({ kind, userId, groupId }) => subjectOf(kind, userId, groupId)),
  )
  const write = useWrite({
    renews: ['categories', code],
    said: t('The approvers are changed'),
    write: () => vaultOf(code).operationCategories.replaceApprovers(category.id, { approvers: approversBody(chosen) }),
  })
  const names = chosen.map((subject) => subjects.find(({ id }) => id === subject)?.name ?? subject)
  return (
    <Card title={t('Approvers')}>
      {isAdmin ? (
        <>
          <SetPicker
            label={t('People and groups')}
            options={subjects}
            chosen={chosen}
            onChange={choose}
            hint={t(
              'Approvers see all requested values, including sensitive ones. If you choose nobody, the administrators vote.',
            )}
          />
          <WriteFailed write={write} />
          <Button look="primary" busy={write.isPending} onClick={() => write.mutate()}>
            {t('Save the approvers')}
          </Button>
        </>
      ) : (
        <p>{names.length === 0 ? t('The administrators of the vault') : names.join(', ')}</p>
      )}
    </Card>
  )
}
