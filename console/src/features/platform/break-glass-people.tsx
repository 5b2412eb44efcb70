import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { breakGlassQuery } from './queries.ts'

/**
 * The people who can sign in without their provider in an emergency. Two platform administrators must agree on each
 * person.
 */
export function BreakGlassPeople() {
  const query = useQuery(breakGlassQuery)
  const [email, setEmail] = useState('')
  const asking = { renews: ['platform-changes'], said: t('The change waits for another platform administrator.') }
  const add = useWrite({ ...asking, write: () => addByEmail(email.trim().toLowerCase()), onDone: () => setEmail('') })
  const remove = useWrite<string>({ ...asking, write: (userId) => strongroom.breakGlassPeople.remove(userId) })
  return (
    <Card title={t('Break-glass people')}>
      <p className="mb-4">
        {t(
          'Where people can sign in only through a provider, these people can also sign in without it: with a passkey, and then a mailed link. All platform administrators get a mail.',
        )}
      </p>
      <DetailState query={query}>
        <ul className="mb-4 grid gap-2">
          {query.data?.map(({ userId, user, hasPasskey }) => (
            <li key={userId} className="flex flex-wrap items-center gap-2">
              <span className="font-medium">{user === null ? userId : nameOf(user)}</span>
              {!hasPasskey && <Badge tone="waiting">{t('Has no passkey')}</Badge>}
              <Button look="quiet" busy={remove.isPending} onClick={() => remove.mutate(userId)}>
                {t('Request removal')}
              </Button>
            </li>
          ))}
        </ul>
      </DetailState>
      <WriteFailed write={remove} />
      <TextField
        label={t('E-mail address of a person with a passkey')}
        type="email"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <WriteFailed write={add} />
      <Button
        busy={add.isPending}
        disabledBecause={email.trim() === '' ? t('Enter an e-mail address first.') : null}
        onClick={() => add.mutate()}
      >
        {t('Request to add this person')}
      </Button>
    </Card>
  )
}

async function addByEmail(email: string): Promise<void> {
  const { items } = await strongroom.platform.listUsers({ search: email, limit: 50 }).page()
  const found = items.find((user) => user.email === email)
  if (found === undefined) throw new Error(t('No user has this e-mail address.'))
  await strongroom.breakGlassPeople.add({ userId: found.userId })
}
