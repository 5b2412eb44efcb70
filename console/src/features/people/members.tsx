import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatRecent } from '../../lib/time.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { SetPicker } from '../../ui/set-picker.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { holdsQuery } from '../holds/queries.ts'
import { changesOf } from './changes.ts'
import { changeMembership, groupsQuery, membersQuery, type Person, useIsAdmin } from './queries.ts'

/** All people and services in the vault, with their groups. */
export function Members({ code }: { code: string }) {
  const isAdmin = useIsAdmin(code)
  const members = useQuery(membersQuery(code))
  const [search, setSearch] = useState('')
  const [edited, edit] = useState<Person | null>(null)
  const [leaving, remove] = useState<Person | null>(null)
  const word = search.trim().toLowerCase()
  const shown = (members.data ?? []).filter(({ name, email }) => `${name} ${email ?? ''}`.toLowerCase().includes(word))
  const holds = useInfiniteQuery(holdsQuery(code, { active: true, subjectType: 'user' }))
  const columns = useMemo(() => {
    const held = new Set(holds.data?.pages.flatMap(({ items }) => items.map(({ subjectId }) => subjectId)))
    return columnsOf(code, held, isAdmin ? { edit, remove } : null)
  }, [code, holds.data, isAdmin])
  return (
    <>
      <div className="max-w-sm">
        <TextField
          label={t('Search by name or e-mail')}
          type="search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <ListState
        query={members}
        isEmpty={shown.length === 0}
        clearFilter={word === '' ? undefined : () => setSearch('')}
        empty={<p>{t('Nobody is in this vault yet. Invite people, and create tokens for services.')}</p>}
      >
        <DataTable caption={t('Members')} columns={columns} rows={shown} rowKey={({ userId }) => userId} />
      </ListState>
      {edited !== null && <GroupsOfMember code={code} member={edited} close={() => edit(null)} />}
      {leaving !== null && <RemoveMember code={code} member={leaving} close={() => remove(null)} />}
    </>
  )
}

type Actions = { edit: (person: Person) => void; remove: (person: Person) => void }

function columnsOf(code: string, held: ReadonlySet<string>, actions: Actions | null): Column<Person>[] {
  const columns: Column<Person>[] = [
    {
      id: 'name',
      header: t('Name'),
      cell: ({ userId, name, email, image }) => (
        <div className="flex items-center gap-2">
          <Avatar name={name} image={image} />
          <div>
            <span className="font-medium">{name}</span> {held.has(userId) && <Badge tone="bad">{t('On hold')}</Badge>}
            {email !== null && <span className="block text-quiet [overflow-wrap:anywhere]">{email}</span>}
          </div>
        </div>
      ),
    },
    { id: 'kind', header: t('Kind'), cell: ({ kind }) => (kind === 'person' ? t('Person') : t('Service')) },
    {
      id: 'groups',
      header: t('Groups'),
      cell: ({ groups }) => groups.map(({ name }) => name).join(', ') || '–',
    },
  ]
  // The service answers the last visit only to readers of the whole vault.
  if (actions !== null) {
    columns.push({
      id: 'seen',
      header: t('Last seen'),
      cell: ({ lastSeenAt }) => (lastSeenAt === null ? t('never') : formatRecent(lastSeenAt)),
    })
  }
  if (actions === null) return columns
  const buttons: Column<Person> = {
    id: 'actions',
    header: t('Change'),
    align: 'end',
    cell: (person) => (
      <div className="flex flex-wrap justify-end gap-2">
        <Button aria-label={t('Groups of {name}', { name: person.name })} onClick={() => actions.edit(person)}>
          {t('Groups')}
        </Button>
        <Link
          to={`/v/${code}/holds` as '/'}
          search={{ user: person.userId } as never}
          aria-label={t('Place a hold on {name}', { name: person.name })}
          className={buttonClass()}
        >
          {t('Place a hold')}
        </Link>
        <Button
          look="danger"
          aria-label={t('Remove {name}', { name: person.name })}
          onClick={() => actions.remove(person)}
        >
          {t('Remove')}
        </Button>
      </div>
    ),
  }
  return [...columns, buttons]
}

/** Ends a membership at once. Service tokens and invitations that the person made stay, and are revoked where they are listed. */
function RemoveMember({ code, member, close }: { code: string; member: Person; close: () => void }) {
  const { name, groups, userId } = member
  const write = useWrite({
    renews: ['people', code],
    said: t('{name} is no longer a member', { name }),
    onDone: close,
    write: () => vaultOf(code).members.remove(userId),
  })
  return (
    <Confirm title={t('Remove {name} from the vault?', { name })} verb={t('Remove')} open onClose={close} write={write}>
      <p className="mb-3">
        {t('This person leaves {groups}. Everybody in these groups gets a mail about it.', {
          groups: groups.map((group) => group.name).join(', '),
        })}
      </p>
      <p>
        {t(
          'Service tokens and invitations that this person made still work. Revoke them under “Service tokens” and “Invitations”.',
        )}
      </p>
    </Confirm>
  )
}

/** Adds a person to groups and removes them. A person without a group is not a member. */
function GroupsOfMember({ code, member, close }: { code: string; member: Person; close: () => void }) {
  const groups = useQuery(groupsQuery(code))
  const assignable = (groups.data ?? []).filter(({ isSystem, code: group }) => !(isSystem && group === 'everyone'))
  const before = assignable.filter(({ memberships }) => memberships.some(({ userId }) => userId === member.userId))
  const [chosen, choose] = useState<string[]>()
  const after = chosen ?? before.map(({ id }) => id)
  const write = useWrite({
    renews: ['people', code],
    said: t('The groups of {name} are changed', { name: member.name }),
    onDone: close,
    write: () => {
      const { added, removed } = changesOf(
        before.map(({ id }) => id),
        after,
      )
      return changeMembership(code, {
        added: added.map((id) => [id, member.userId]),
        removed: removed.map((id) => [id, member.userId]),
      })
    },
  })
  return (
    <Sheet open title={t('Groups of {name}', { name: member.name })} onClose={close}>
      <SetPicker
        label={t('Groups')}
        options={assignable.map(({ id, name }) => ({ id, name }))}
        chosen={after}
        onChange={choose}
        hint={t('The policies of a group apply to its members. Everybody in the group gets a mail about the change.')}
      />
      {after.length === 0 && (
        <p role="alert" className="mb-4 rounded-md bg-warn-soft p-3 text-warn">
          {t('If you choose no group, {name} leaves the vault.', { name: member.name })}
        </p>
      )}
      <WriteFailed write={write} />
      <Button look="primary" busy={write.isPending} onClick={() => write.mutate()}>
        {t('Save')}
      </Button>
    </Sheet>
  )
}
