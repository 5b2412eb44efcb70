import type { ServiceToken } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatDay, formatRecent, formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { SetPicker } from '../../ui/set-picker.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { endOfDay, tokenState } from './changes.ts'
import { groupsQuery, serviceTokensQuery } from './queries.ts'
import { type Scope, ScopeFields, scopesSentence } from './token-scopes.tsx'

/** The service tokens, by which programs sign in. */
export function ServiceTokens({ code }: { code: string }) {
  const tokens = useQuery(serviceTokensQuery(code))
  const [creating, create] = useState(false)
  return (
    <>
      <div className="mb-3 flex flex-wrap gap-2">
        <Button look="primary" onClick={() => create(true)}>
          {t('New service token')}
        </Button>
        <a href="/docs" className={buttonClass()}>
          {t('API reference')}
        </a>
      </div>
      <ListState
        query={tokens}
        isEmpty={tokens.data?.length === 0}
        empty={
          <p>
            {t(
              'No program has access yet. With a service token, a program acts as a member of the groups that you choose.',
            )}
          </p>
        }
      >
        <ul>
          {tokens.data?.map((token) => (
            <TokenRow key={token.id} code={code} token={token} />
          ))}
        </ul>
      </ListState>
      {creating && <TokenForm code={code} close={() => create(false)} />}
    </>
  )
}

function TokenRow({ code, token }: { code: string; token: ServiceToken }) {
  const [isAsking, setAsking] = useState(false)
  const state = tokenState(token)
  const write = useWrite({
    renews: ['people', code],
    said: t('The token is revoked'),
    onDone: () => setAsking(false),
    write: () => vaultOf(code).serviceTokens.revoke(token.id),
  })
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-t border-line py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {token.name}
          {state === 'active' && <Badge tone="good">{t('Active')}</Badge>}
          {state === 'expired' && <Badge tone="neutral">{t('Expired')}</Badge>}
          {state === 'revoked' && <Badge tone="neutral">{t('Revoked')}</Badge>}
        </p>
        <p className="text-quiet">
          {t('created {time}', { time: formatTime(token.createdAt) })} ·{' '}
          {token.expiresAt === null
            ? t('does not expire')
            : t('valid until {day}', { day: formatDay(token.expiresAt) })}{' '}
          · {scopesSentence(token.scopes)}
        </p>
        <p className="text-quiet">
          {token.lastUsedAt === null
            ? t('not used yet')
            : t('last used {time} from {address}', {
                time: formatRecent(token.lastUsedAt),
                address: token.lastUsedFrom ?? '–',
              })}
          {token.networks !== null &&
            ` · ${t('accepted only from {networks}', { networks: token.networks.join(', ') })}`}
        </p>
      </div>
      {state === 'active' && (
        <Button look="danger" aria-label={t('Revoke {name}', { name: token.name })} onClick={() => setAsking(true)}>
          {t('Revoke')}
        </Button>
      )}
      <Confirm
        open={isAsking}
        title={t('Revoke {name}', { name: token.name })}
        verb={t('Revoke')}
        onClose={() => setAsking(false)}
        write={write}
      >
        {t('The program that uses this token is refused from now on. This cannot be undone.')}
      </Confirm>
    </li>
  )
}

/** Returns the sentence for a choice that the form still lacks. */
function lacking(groupIds: readonly string[], scopes: readonly Scope[]): string | null {
  if (groupIds.length === 0) return t('Choose at least one group.')
  return scopes.length === 0 ? t('Choose at least one scope.') : null
}

type TokenValues = { name: string; day: string; networks: string }

function TokenForm({ code, close }: { code: string; close: () => void }) {
  const groups = useQuery(groupsQuery(code))
  const idempotencyKey = useRef(crypto.randomUUID())
  const [groupIds, setGroupIds] = useState<string[]>([])
  const [scopes, setScopes] = useState<Scope[]>(['read'])
  const [secret, setSecret] = useState<string | null>(null)
  const { register, handleSubmit } = useForm<TokenValues>({ defaultValues: { name: '', day: '', networks: '' } })
  const write = useWrite<TokenValues, Pick<ServiceToken, 'token'>>({
    renews: ['people', code],
    said: t('The token is created'),
    onDone: ({ token }) => (token === undefined ? close() : setSecret(token)),
    write: async ({ name, day, networks }) => {
      const listed = networks.split(/[\s,]+/).filter((network) => network !== '')
      const body = { name, groupIds, scopes, expiresAt: endOfDay(day), networks: listed.length === 0 ? null : listed }
      const { value, pendingApproval } = await vaultOf(code).serviceTokens.create(body, {
        idempotencyKey: idempotencyKey.current,
      })
      // The secret is shown now in any case. While others vote, the token is not valid yet.
      return value ?? pendingApproval
    },
  })
  if (secret !== null) return <Secret secret={secret} close={close} />
  const options = (groups.data ?? [])
    .filter(({ isSystem, code: group }) => !(isSystem && group === 'everyone'))
    .map(({ id, name }) => ({ id, name }))
  return (
    <Sheet open title={t('New service token')} onClose={close}>
      <form onSubmit={handleSubmit((values) => write.mutate(values))}>
        <TextField
          label={t('Name')}
          hint={t('The program that uses the token, such as “payroll export”.')}
          required
          maxLength={200}
          error={write.fields.get('name')}
          {...register('name')}
        />
        <SetPicker
          label={t('Groups')}
          options={options}
          chosen={groupIds}
          error={write.fields.get('groupIds')}
          hint={t('The service becomes a member of these groups, and their policies apply to it.')}
          onChange={setGroupIds}
        />
        <ScopeFields chosen={scopes} onChange={setScopes} />
        <TextField
          label={t('Valid until')}
          hint={t('Leave empty for a token that does not expire.')}
          type="date"
          error={write.fields.get('expiresAt')}
          {...register('day')}
        />
        <TextField
          label={t('IP networks')}
          hint={t(
            'Such as 203.0.113.0/24, separated by commas. If the field is empty, the token is accepted from every address.',
          )}
          error={write.fields.get('networks')}
          {...register('networks')}
        />
        <WriteFailed write={write} shown={['name', 'groupIds', 'expiresAt', 'networks']} />
        <Button type="submit" look="primary" busy={write.isPending} disabledBecause={lacking(groupIds, scopes)}>
          {t('Create')}
        </Button>
      </form>
    </Sheet>
  )
}

/** The secret is answered only once. A person who loses it makes another token. */
function Secret({ secret, close }: { secret: string; close: () => void }) {
  return (
    <Sheet open title={t('The secret of the token')} onClose={close}>
      <p className="mb-3">{t('The secret is shown only now. Store it where the program reads its secrets.')}</p>
      <div className="mb-4 flex items-center gap-2 rounded-md bg-ground p-3">
        <output className="code min-w-0 [overflow-wrap:anywhere]">{secret}</output>
        <CopyButton text={secret} label={t('Copy the secret')} />
      </div>
      <Button look="primary" onClick={close}>
        {t('I have stored the secret')}
      </Button>
    </Sheet>
  )
}
