import type { Offboarding, PlatformUser } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { deviceOf } from '../../lib/device.ts'
import { t } from '../../lib/language.ts'
import { signInMethodOf } from '../../lib/sign-in-method.ts'
import { formatRecent, formatTime } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { DetailState, ListState } from '../../ui/list-states.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { accountsQuery, offboardingQuery, userSessionsQuery } from './queries.ts'

type ChangeProps = { user: PlatformUser; close: () => void }

/** Disables a user after showing what would keep working, or enables a user again. */
export function ChangeAccess({ user, close }: ChangeProps) {
  const { name, userId, disabledAt } = user
  const isDisabled = disabledAt !== null
  const [reason, setReason] = useState('')
  const write = useWrite<void, unknown>({
    renews: ['platform-users'],
    said: isDisabled ? t('{name} can sign in again', { name }) : t('{name} is disabled', { name }),
    onDone: close,
    write: () => strongroom.users[isDisabled ? 'enable' : 'disable'](userId, { reason: reason.trim() }),
  })
  return (
    <Sheet open title={isDisabled ? t('Enable {name}?', { name }) : t('Disable {name}?', { name })} onClose={close}>
      <p className="mb-4">
        {isDisabled
          ? t('They sign in anew. Their groups, and votes on what still waits, count again.')
          : t('Their sessions end with the next request, and their votes on what still waits count no longer.')}
      </p>
      <LeftBehind userId={userId} />
      {!isDisabled && <Sessions userId={userId} />}
      <Accounts userId={userId} />
      <TextField
        label={t('Reason')}
        hint={t('The audit logs keep it, and the administrators of their vaults get it by mail.')}
        value={reason}
        error={write.fields.get('reason')}
        onChange={({ target }) => setReason(target.value)}
      />
      <WriteFailed write={write} shown={['reason']} />
      <Button
        look={isDisabled ? 'primary' : 'danger'}
        busy={write.isPending}
        disabledBecause={reason.trim() === '' ? t('Enter a reason first.') : undefined}
        onClick={() => write.mutate()}
      >
        {isDisabled ? t('Enable') : t('Disable')}
      </Button>
    </Sheet>
  )
}

/** The sessions of a user, with a button that ends them all. The user can sign in again. */
function Sessions({ userId }: { userId: string }) {
  const query = useInfiniteQuery(userSessionsQuery(userId))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const end = useWrite({
    renews: ['user-sessions', userId],
    said: t('They are signed out everywhere.'),
    write: () => strongroom.users.signOutEverywhere(userId),
  })
  return (
    <section className="mb-4">
      <h3 className="mb-1 font-medium">{t('Signed in on')}</h3>
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('Nowhere.')}</p>}>
        <ul className="mb-2 list-disc pl-5 [overflow-wrap:anywhere]">
          {rows.map((session) => (
            <li key={session.id}>
              {[deviceOf(session.userAgent) ?? t('Unknown'), signInMethodOf(session), session.ip ?? '–'].join(' · ')}
              <div className="text-quiet">
                {t('Signed in {since}, last seen {seen}', {
                  since: formatTime(session.createdAt),
                  seen: formatRecent(session.lastSeenAt),
                })}
              </div>
            </li>
          ))}
        </ul>
        <div className="flex flex-wrap gap-2">
          <Button busy={end.isPending} onClick={() => end.mutate()}>
            {t('Sign out everywhere')}
          </Button>
          {query.hasNextPage && (
            <Button look="quiet" busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
              {t('Show more')}
            </Button>
          )}
        </div>
      </ListState>
      <WriteFailed write={end} />
    </section>
  )
}

/** The accounts of a user at identity providers, each with a button that removes it. Nothing where there are none. */
function Accounts({ userId }: { userId: string }) {
  const { data } = useQuery(accountsQuery(userId))
  const remove = useWrite<string>({
    renews: ['accounts', userId],
    said: t('The account no longer signs them in.'),
    write: (identityId) => strongroom.users.removeIdentity(userId, identityId),
  })
  return (
    <>
      {data?.map(({ id, issuer, providerName }) => (
        <p key={id} className="mb-4 flex flex-wrap items-center gap-2">
          {t('Account at {provider}', { provider: providerName ?? issuer })}
          <Button look="quiet" busy={remove.isPending} onClick={() => remove.mutate(id)}>
            {t('Remove')}
          </Button>
        </p>
      ))}
      <WriteFailed write={remove} />
    </>
  )
}

/**
 * The consequences of disabling a user: service tokens and invitations that still work, and vaults that are left without
 * an administrator or enough voters.
 */
function LeftBehind({ userId }: { userId: string }) {
  const query = useQuery(offboardingQuery(userId))
  return <DetailState query={query}>{query.data !== undefined && <Left left={query.data} />}</DetailState>
}

function Left({ left: { serviceTokens, invitations, onlyAdministratorOf, withoutQuorum } }: { left: Offboarding }) {
  return (
    <div className="mb-4">
      {onlyAdministratorOf.length > 0 && (
        <p role="alert" className="mb-3 rounded-md bg-warn-soft p-3 text-warn">
          {t('Nobody else administers {vaults}.', { vaults: onlyAdministratorOf.map(({ name }) => name).join(', ') })}
        </p>
      )}
      {withoutQuorum > 0 && (
        <p className="mb-3">
          {t('{count, plural, one {# request waits} other {# requests wait}} for more votes than people can cast.', {
            count: withoutQuorum,
          })}
        </p>
      )}
      <ToRevoke
        title={t('Service tokens to revoke')}
        made={serviceTokens.map(({ id, name, vault }) => [id, `${vault.name}: ${name}`])}
      />
      <ToRevoke
        title={t('Invitations to revoke')}
        made={invitations.map(({ id, email, vault }) => [id, `${vault.name}: ${email}`])}
      />
    </div>
  )
}

function ToRevoke({ title, made }: { title: string; made: [id: string, words: string][] }) {
  if (made.length === 0) return null
  return (
    <>
      <h3 className="mb-1 font-medium">{title}</h3>
      <ul className="mb-3 list-disc pl-5 [overflow-wrap:anywhere]">
        {made.map(([id, words]) => (
          <li key={id}>{words}</li>
        ))}
      </ul>
    </>
  )
}
