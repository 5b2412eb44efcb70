import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { latest } from '../../lib/images.ts'
import { t } from '../../lib/language.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { ImageField } from '../../ui/image-field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { SetPicker } from '../../ui/set-picker.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { changesOf } from './changes.ts'
import {
  changeMembership,
  type GroupWithMembers,
  groupsQuery,
  membersQuery,
  type Person,
  useIsAdmin,
} from './queries.ts'

type Asked = { what: 'create' } | { what: 'edit' | 'delete' | 'members'; group: GroupWithMembers }

/** The groups that policies belong to and approvers are chosen from. */
export function Groups({ code }: { code: string }) {
  const isAdmin = useIsAdmin(code)
  const groups = useQuery(groupsQuery(code))
  const members = useQuery(membersQuery(code))
  const [action, setAction] = useState<Asked | null>(null)
  const close = () => setAction(null)
  return (
    <>
      {isAdmin && (
        <div className="mb-3">
          <Button look="primary" onClick={() => setAction({ what: 'create' })}>
            {t('New group')}
          </Button>
        </div>
      )}
      <ListState query={groups} isEmpty={groups.data?.length === 0} empty={<p>{t('There is no group yet.')}</p>}>
        <ul>
          {groups.data?.map((group) => (
            <GroupRow key={group.id} {...{ code, group, isAdmin, setAction }} people={members.data ?? []} />
          ))}
        </ul>
      </ListState>
      {action?.what === 'create' && <GroupForm code={code} close={close} />}
      {action?.what === 'edit' && (
        <GroupForm code={code} group={latest(groups.data ?? [], action.group)} close={close} />
      )}
      {action?.what === 'members' && (
        <MembersOfGroup code={code} group={action.group} people={members.data ?? []} close={close} />
      )}
      {action?.what === 'delete' && <DeleteGroup code={code} group={action.group} close={close} />}
    </>
  )
}

type GroupRowProps = {
  code: string
  group: GroupWithMembers
  people: readonly Person[]
  isAdmin: boolean
  setAction: (action: Asked) => void
}

function GroupRow({ code, group, people, isAdmin, setAction }: GroupRowProps) {
  const isEveryone = group.isSystem && group.code === 'everyone'
  const names = group.memberships.map(({ userId }) => people.find((person) => person.userId === userId)?.name ?? userId)
  return (
    <li className="border-t border-line py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="flex flex-wrap items-center gap-2 font-medium">
          <Avatar name={group.name} image={group.logoUri} />
          {group.name}
          {group.isSystem && <Badge tone="neutral">{t('Built in')}</Badge>}
        </h3>
        {isAdmin && (
          <div className="flex flex-wrap gap-2">
            {!isEveryone && (
              <Button
                aria-label={t('Members of {name}', { name: group.name })}
                onClick={() => setAction({ what: 'members', group })}
              >
                {t('Members')}
              </Button>
            )}
            <Button
              aria-label={t('Edit {name}', { name: group.name })}
              onClick={() => setAction({ what: 'edit', group })}
            >
              {t('Edit')}
            </Button>
            {!group.isSystem && (
              <Button
                look="danger"
                disabledBecause={
                  group.policies.length > 0
                    ? t('A group that has policies cannot be deleted. Delete them first.')
                    : null
                }
                aria-label={t('Delete {name}', { name: group.name })}
                onClick={() => setAction({ what: 'delete', group })}
              >
                {t('Delete')}
              </Button>
            )}
          </div>
        )}
      </div>
      {group.description !== null && <p className="text-quiet">{group.description}</p>}
      <p className="mt-1">{isEveryone ? t('Everybody in the vault') : names.join(', ') || t('No members')}</p>
      <Link
        to="/v/$code/policies"
        params={{ code }}
        search={{ group: group.id }}
        className="text-accent underline-offset-2 hover:underline"
      >
        {t('{count, plural, =0 {No policies} one {# policy} other {# policies}}', { count: group.policies.length })}
      </Link>
    </li>
  )
}

type GroupValues = { name: string; code: string; description: string }

function GroupForm({ code, group, close }: { code: string; group?: GroupWithMembers; close: () => void }) {
  const idempotencyKey = useRef(crypto.randomUUID())
  const { register, handleSubmit } = useForm<GroupValues>({
    defaultValues: { name: group?.name ?? '', code: group?.code ?? '', description: group?.description ?? '' },
  })
  const write = useWrite<GroupValues>({
    renews: ['people', code],
    said: group === undefined ? t('The group is created') : t('The group is changed'),
    onDone: close,
    write: (values) => {
      const description = values.description.trim() === '' ? null : values.description
      const { policyGroups } = vaultOf(code)
      if (group?.isSystem) return policyGroups.update(group.id, { name: values.name, description })
      if (group !== undefined) return policyGroups.update(group.id, { ...values, description })
      return policyGroups.create({ ...values, description }, { idempotencyKey: idempotencyKey.current })
    },
  })
  return (
    <Sheet open title={group === undefined ? t('New group') : t('Edit {name}', { name: group.name })} onClose={close}>
      {group !== undefined && (
        <ImageField
          name={group.name}
          image={group.logoUri}
          replace={(image) => vaultOf(code).policyGroups.replaceImage(group.id, image)}
          remove={() => vaultOf(code).policyGroups.deleteImage(group.id)}
          renews={[['people', code]]}
        />
      )}
      <form onSubmit={handleSubmit((values) => write.mutate(values))}>
        <TextField label={t('Name')} required maxLength={200} error={write.fields.get('name')} {...register('name')} />
        {group?.isSystem !== true && (
          <TextField
            label={t('Short name')}
            hint={t('Lower-case letters, digits, - and _. Programs use this name for the group.')}
            required
            pattern="[a-z0-9][a-z0-9_\-]{0,62}"
            error={write.fields.get('code')}
            {...register('code')}
          />
        )}
        <TextArea
          label={t('Description')}
          maxLength={2_000}
          error={write.fields.get('description')}
          {...register('description')}
        />
        <WriteFailed write={write} shown={['name', 'code', 'description']} />
        <Button type="submit" look="primary" busy={write.isPending}>
          {t('Save')}
        </Button>
      </form>
    </Sheet>
  )
}

type MembersOfGroupProps = { code: string; group: GroupWithMembers; people: readonly Person[]; close: () => void }

function MembersOfGroup({ code, group, people, close }: MembersOfGroupProps) {
  const before = group.memberships.map(({ userId }) => userId)
  const [chosen, choose] = useState(before)
  const write = useWrite({
    renews: ['people', code],
    said: t('The members of {name} are changed', { name: group.name }),
    onDone: close,
    write: () => {
      const { added, removed } = changesOf(before, chosen)
      return changeMembership(code, {
        added: added.map((userId) => [group.id, userId]),
        removed: removed.map((userId) => [group.id, userId]),
      })
    },
  })
  return (
    <Sheet open title={t('Members of {name}', { name: group.name })} onClose={close}>
      <SetPicker
        label={t('Members')}
        options={people.map(({ userId, name }) => ({ id: userId, name }))}
        chosen={chosen}
        onChange={choose}
        hint={t('Invite people who are not in the vault yet under “Invitations”.')}
      />
      <WriteFailed write={write} />
      <Button look="primary" busy={write.isPending} onClick={() => write.mutate()}>
        {t('Save')}
      </Button>
    </Sheet>
  )
}

function DeleteGroup({ code, group, close }: { code: string; group: GroupWithMembers; close: () => void }) {
  const write = useWrite({
    renews: ['people', code],
    said: t('The group is deleted'),
    onDone: close,
    write: () => vaultOf(code).policyGroups.delete(group.id),
  })
  return (
    <Confirm open title={t('Delete {name}', { name: group.name })} verb={t('Delete')} onClose={close} write={write}>
      {t('Members who are in no other group leave the vault. Everybody in the group gets a mail about the deletion.')}
    </Confirm>
  )
}
