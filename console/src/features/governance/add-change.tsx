import type { ChangeSet } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { errorsOfFields } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { groupsQuery, membersQuery } from '../people/queries.ts'
import { policiesQuery } from '../policies/queries.ts'
import { type Change, groupsOf } from './draft.ts'
import { putIntoDraft } from './queries.ts'
import { actionOf } from './words.ts'

const kinds = [
  'policy_create',
  'policy_update',
  'policy_delete',
  'policy_group_create',
  'policy_group_member_add',
  'policy_group_member_remove',
] as const
type Kind = (typeof kinds)[number]
type Values = { title: string; policyId: string; groupId: string; userId: string; name: string; groupCode: string }
type AddChangeProps = { code: string; set?: ChangeSet; onDone: (set: ChangeSet) => void }

/** Adds a change to a draft, or to a new draft. Policies are written as sentences, on their own page. */
export function AddChange({ code, set, onDone }: AddChangeProps) {
  const navigate = useNavigate()
  const [kind, choose] = useState<Kind>('policy_create')
  const { values, change, lists } = useValues(code, kind, set)
  const write = useWrite<Change, ChangeSet>({
    renews: ['governance', code],
    said: t('The draft is saved'),
    write: (added) => putIntoDraft(code, { to: set?.id ?? 'new', title: values.title, change: added }),
    onDone,
  })
  const errors = errorsOfFields(write.error, ['title', 'name', 'code'])
  const add = (event: FormEvent) => {
    event.preventDefault()
    const search = { draft: set?.id ?? 'new' }
    if (kind === 'policy_create') void navigate({ to: '/v/$code/policies/new', params: { code }, search })
    else if (kind === 'policy_update') {
      void navigate({ to: '/v/$code/policies/$id', params: { code, id: values.policyId }, search })
    } else write.mutate(changeOf(kind, values))
  }
  const leads = kind === 'policy_create' || kind === 'policy_update'
  return (
    <form onSubmit={add}>
      <SelectField
        label={t('What is to change')}
        value={kind}
        onChange={({ target }) => choose(target.value as Kind)}
        hint={set === undefined ? t('More changes can be added afterwards; they take effect together.') : undefined}
      >
        {kinds.map((option) => (
          <option key={option} value={option}>
            {actionOf(option)}
          </option>
        ))}
      </SelectField>
      <Subject {...{ kind, values, change, lists, errors }} />
      {set === undefined && !leads && (
        <TextField
          label={t('What the change is for')}
          required
          maxLength={200}
          value={values.title}
          error={errors.title}
          onChange={({ target }) => change({ title: target.value })}
        />
      )}
      <WriteFailed write={write} shown={Object.keys(errors)} />
      <Button type="submit" look="primary" busy={write.isPending}>
        {leads ? t('On to its sentence') : t('Save the draft')}
      </Button>
    </form>
  )
}

type Lists = Record<'policies' | 'groups' | 'people', readonly { id: string; name: string }[]>

/** Returns the values of the form, and the choices of its fields. */
function useValues(code: string, kind: Kind, set: ChangeSet | undefined) {
  const policies = useQuery(policiesQuery(code)).data ?? []
  const groups = (useQuery(groupsQuery(code)).data ?? []).filter(
    (group) => !(group.isSystem && group.code === 'everyone'),
  )
  const members = useQuery(membersQuery(code)).data ?? []
  const [typed, setTyped] = useState<Partial<Values>>({})
  const drafted = kind === 'policy_group_member_add' && set !== undefined ? groupsOf(set.changes) : []
  const offered = [...groups.map(({ id, name }) => ({ id, name })), ...drafted]
  const groupId = typed.groupId ?? offered[0]?.id ?? ''
  const inside = new Set(groups.find(({ id }) => id === groupId)?.memberships.map(({ userId }) => userId))
  const people = members
    .filter(({ userId }) => inside.has(userId) === (kind === 'policy_group_member_remove'))
    .map(({ userId, name }) => ({ id: userId, name }))
  const userId = people.find(({ id }) => id === typed.userId)?.id ?? people[0]?.id ?? ''
  const policyId = typed.policyId ?? policies[0]?.id ?? ''
  const values: Values = { title: '', name: '', groupCode: '', ...typed, groupId, userId, policyId }
  const lists: Lists = { policies, groups: offered, people }
  return { values, lists, change: (next: Partial<Values>) => setTyped({ ...typed, ...next }) }
}

function changeOf(kind: Kind, { policyId, groupId, userId, name, groupCode }: Values): Change {
  if (kind === 'policy_delete') return { action: kind, targetId: policyId, payload: {} }
  if (kind === 'policy_group_create') return { action: kind, payload: { code: groupCode, name } }
  return { action: kind, targetId: groupId, payload: { userId } }
}

type SubjectProps = {
  kind: Kind
  values: Values
  lists: Lists
  errors: Partial<Record<'name' | 'code', string>>
  change: (next: Partial<Values>) => void
}

function Subject({ kind, values, lists, errors, change }: SubjectProps) {
  if (kind === 'policy_create') return null
  if (kind === 'policy_group_create') {
    return (
      <>
        <TextField
          label={t('Name')}
          required
          maxLength={200}
          value={values.name}
          error={errors.name}
          onChange={({ target }) => change({ name: target.value })}
        />
        <TextField
          label={t('Short name')}
          hint={t('Lower-case letters, digits, - and _. Programs use this name for the group.')}
          required
          pattern="[a-z0-9][a-z0-9_\-]{0,62}"
          value={values.groupCode}
          error={errors.code}
          onChange={({ target }) => change({ groupCode: target.value })}
        />
      </>
    )
  }
  const isOfGroup = kind === 'policy_group_member_add' || kind === 'policy_group_member_remove'
  if (!isOfGroup)
    return <Choice label={t('Policy')} of={lists.policies} value={values.policyId} name="policyId" {...{ change }} />
  return (
    <>
      <Choice label={t('Group')} of={lists.groups} value={values.groupId} name="groupId" {...{ change }} />
      <Choice label={t('Person')} of={lists.people} value={values.userId} name="userId" {...{ change }} />
    </>
  )
}

type ChoiceProps = Pick<SubjectProps, 'change'> & {
  label: string
  of: readonly { id: string; name: string }[]
  value: string
  name: 'policyId' | 'groupId' | 'userId'
}

function Choice({ label, of, value, name, change }: ChoiceProps) {
  return (
    <SelectField label={label} required value={value} onChange={({ target }) => change({ [name]: target.value })}>
      {of.map((option) => (
        <option key={option.id} value={option.id}>
          {option.name}
        </option>
      ))}
    </SelectField>
  )
}
