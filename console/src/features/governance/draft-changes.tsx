import type { ChangeSet } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { groupsQuery, membersQuery } from '../people/queries.ts'
import { policiesQuery } from '../policies/queries.ts'
import { AddChange } from './add-change.tsx'
import { type Change, dependentsOf, groupsOf, withoutChange } from './draft.ts'
import { DraftForm } from './draft-form.tsx'
import { actionOf } from './words.ts'

/** The changes of a draft, for its author: each can be edited or removed, and others can be added. */
export function DraftChanges({ code, set }: { code: string; set: ChangeSet }) {
  const [openForm, setOpenForm] = useState<'add' | 'json' | null>(null)
  const nameOf = useNames(code, set)
  const remove = useWrite<number, ChangeSet>({
    renews: ['governance', code],
    said: t('The draft is saved'),
    write: (at) =>
      vaultOf(code).changeSets.update(set.id, { title: set.title, changes: withoutChange(set.changes, at) }),
  })
  const whyStays = (at: number) => {
    if (set.changes.length === 1) return t('A draft has at least one change. Cancel the draft instead.')
    return dependentsOf(set.changes, at).length > 0 ? t('Another change of this draft needs this change.') : null
  }
  return (
    <Card title={t('Changes of this draft')}>
      <ol className="grid">
        {set.changes.map((change, at) => {
          const text = [actionOf(change.action), subjectOf(change, nameOf)].filter(Boolean).join(': ')
          return (
            <li key={at} className="flex flex-wrap items-center justify-between gap-2 border-t border-line py-2">
              <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
              <span className="flex flex-wrap gap-2">
                <EditPolicy code={code} set={set} at={at} name={text} />
                <Button
                  aria-label={t('Remove {name}', { name: text })}
                  busy={remove.isPending && remove.variables === at}
                  disabledBecause={whyStays(at)}
                  onClick={() => remove.mutate(at)}
                >
                  {t('Remove')}
                </Button>
              </span>
            </li>
          )
        })}
      </ol>
      <WriteFailed write={remove} />
      <div className="mt-2 flex flex-wrap gap-2">
        <Button onClick={() => setOpenForm('add')}>{t('Add a change')}</Button>
        <Button look="quiet" onClick={() => setOpenForm('json')}>
          {t('Edit as JSON')}
        </Button>
      </div>
      <Sheet open={openForm === 'add'} onClose={() => setOpenForm(null)} title={t('Add a change')}>
        <AddChange code={code} set={set} onDone={() => setOpenForm(null)} />
      </Sheet>
      <Sheet wide open={openForm === 'json'} onClose={() => setOpenForm(null)} title={t('Edit as JSON')}>
        <DraftForm code={code} set={set} onDone={() => setOpenForm(null)} />
      </Sheet>
    </Card>
  )
}

/** Policies are edited as sentences, on the page of the policy. */
function EditPolicy({ code, set, at, name }: { code: string; set: ChangeSet; at: number; name: string }) {
  const { action, targetId } = set.changes[at]!
  const search = { draft: set.id, at }
  const look = { className: buttonClass(), 'aria-label': t('Edit {name}', { name }) }
  if (action === 'policy_create') {
    return (
      <Link to="/v/$code/policies/new" params={{ code }} search={search} {...look}>
        {t('Edit')}
      </Link>
    )
  }
  if (action !== 'policy_update' || targetId === undefined || targetId === null) return null
  return (
    <Link to="/v/$code/policies/$id" params={{ code, id: targetId }} search={search} {...look}>
      {t('Edit')}
    </Link>
  )
}

/**
 * Returns the subject of a change: the object that it creates, the person whom it adds, or the object that it changes.
 */
function subjectOf({ targetId, payload }: Change, nameOf: (id: string) => string): string {
  const target = targetId === undefined || targetId === null ? null : nameOf(targetId)
  if (typeof payload.userId === 'string') return [nameOf(payload.userId), target].filter(Boolean).join(' – ')
  if (typeof payload.email === 'string') return payload.email
  return typeof payload.name === 'string' ? payload.name : (target ?? '')
}

function useNames(code: string, set: ChangeSet): (id: string) => string {
  const members = useQuery(membersQuery(code))
  const groups = useQuery(groupsQuery(code))
  const policies = useQuery(policiesQuery(code))
  const names = new Map([
    ...(members.data ?? []).map(({ userId, name }) => [userId, name] as const),
    ...[...(groups.data ?? []), ...(policies.data ?? []), ...groupsOf(set.changes)].map(
      ({ id, name }) => [id, name] as const,
    ),
  ])
  return (id) => names.get(id) ?? id
}
