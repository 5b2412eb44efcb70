import type { Invitation } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { SetPicker } from '../../ui/set-picker.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { groupsQuery, invitationsQuery } from './queries.ts'

/** The invited people, and the state of each invitation. */
export function Invitations({ code }: { code: string }) {
  const invitations = useQuery(invitationsQuery(code))
  const [inviting, invite] = useState(false)
  return (
    <>
      <div className="mb-3">
        <Button look="primary" onClick={() => invite(true)}>
          {t('Invite a person')}
        </Button>
      </div>
      <ListState
        query={invitations}
        isEmpty={invitations.data?.length === 0}
        empty={
          <p>
            {t(
              'Nobody has been invited yet. An invited person gets a mail with a link, and joins the groups that you choose.',
            )}
          </p>
        }
      >
        <ul>
          {invitations.data?.map((invitation) => (
            <InvitationRow key={invitation.id} code={code} invitation={invitation} />
          ))}
        </ul>
      </ListState>
      {inviting && <InvitationForm code={code} close={() => invite(false)} />}
    </>
  )
}

function InvitationRow({ code, invitation }: { code: string; invitation: Invitation }) {
  const [isAsking, setAsking] = useState(false)
  const { email, status, createdAt, createdBy, groupMemberships } = invitation
  const write = useWrite({
    renews: ['people', code],
    said: t('The invitation is revoked'),
    onDone: () => setAsking(false),
    write: () => vaultOf(code).invitations.revoke(invitation.id),
  })
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-t border-line py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
          {email} <StatusBadge status={status} />
        </p>
        <p className="text-quiet">
          {t('{groups} · invited by {name}, {time}', {
            groups: groupMemberships.map(({ group }) => group.name).join(', '),
            name: nameOf(createdBy),
            time: formatTime(createdAt),
          })}
        </p>
      </div>
      {status === 'pending' && (
        <Button
          look="danger"
          aria-label={t('Revoke the invitation of {email}', { email })}
          onClick={() => setAsking(true)}
        >
          {t('Revoke')}
        </Button>
      )}
      <Confirm
        open={isAsking}
        title={t('Revoke the invitation of {email}', { email })}
        verb={t('Revoke')}
        onClose={() => setAsking(false)}
        write={write}
      >
        {t('The link in the mail stops working.')}
      </Confirm>
    </li>
  )
}

function StatusBadge({ status }: Pick<Invitation, 'status'>) {
  if (status === 'pending') return <Badge tone="waiting">{t('Invited')}</Badge>
  if (status === 'accepted') return <Badge tone="good">{t('Joined')}</Badge>
  return <Badge tone="neutral">{t('Revoked')}</Badge>
}

function InvitationForm({ code, close }: { code: string; close: () => void }) {
  const groups = useQuery(groupsQuery(code))
  const idempotencyKey = useRef(crypto.randomUUID())
  const [email, setEmail] = useState('')
  const [groupIds, setGroupIds] = useState<string[]>([])
  const write = useWrite({
    renews: ['people', code],
    said: t('The invitation is on its way'),
    onDone: close,
    write: () =>
      vaultOf(code).invitations.create({ email: email.trim(), groupIds }, { idempotencyKey: idempotencyKey.current }),
  })
  const options = (groups.data ?? [])
    .filter(({ isSystem, code: group }) => !(isSystem && group === 'everyone'))
    .map(({ id, name }) => ({ id, name }))
  return (
    <Sheet open title={t('Invite a person')} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          write.mutate()
        }}
      >
        <TextField
          label={t('E-mail')}
          type="email"
          required
          value={email}
          error={write.fields.get('email')}
          onChange={({ target }) => setEmail(target.value)}
        />
        <SetPicker
          label={t('Groups')}
          options={options}
          chosen={groupIds}
          error={write.fields.get('groupIds')}
          hint={t('The policies of a group apply to its members.')}
          onChange={setGroupIds}
        />
        <WriteFailed write={write} shown={['email', 'groupIds']} />
        <Button
          type="submit"
          look="primary"
          busy={write.isPending}
          disabledBecause={groupIds.length === 0 ? t('Choose at least one group.') : null}
        >
          {t('Send the invitation')}
        </Button>
      </form>
    </Sheet>
  )
}
