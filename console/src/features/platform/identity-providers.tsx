import type { IdentityProvider } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { IdentityProviderForm } from './identity-provider-form.tsx'
import { identityProvidersQuery } from './queries.ts'

/** The identity providers of companies. One platform administrator sets and tries one, another confirms it. */
export function IdentityProviders() {
  const query = useInfiniteQuery(identityProvidersQuery)
  const providers = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [edited, edit] = useState<IdentityProvider | 'new' | null>(null)
  return (
    <Card title={t('Identity providers')}>
      <p className="mb-4">
        {t('People of its domains sign in at their company. A provider says who somebody is and gives nobody a right.')}
      </p>
      <ListState query={query} isEmpty={providers.length === 0} empty={<p>{t('There is no identity provider.')}</p>}>
        <ul className="grid gap-4">
          {providers.map((provider) => (
            <Provider key={provider.id} provider={provider} edit={() => edit(provider)} />
          ))}
        </ul>
      </ListState>
      <div className="mt-4">
        <Button look="primary" onClick={() => edit('new')}>
          {t('Add a provider')}
        </Button>
      </div>
      <Sheet title={t('Identity provider')} open={edited !== null} onClose={() => edit(null)}>
        {edited !== null && (
          <IdentityProviderForm provider={edited === 'new' ? null : edited} onDone={() => edit(null)} />
        )}
      </Sheet>
    </Card>
  )
}

function Provider({ provider, edit }: { provider: IdentityProvider; edit: () => void }) {
  const { id, name, issuer, domains, status, enforce, redirectUri, logoutUri, triedAt, createdById } = provider
  const { data: session } = useQuery(sessionQuery)
  const isMine = session?.user.id === createdById
  const client = useQueryClient()
  const act = useMutation({
    mutationFn: async () => {
      await (status === 'active'
        ? strongroom.identityProviders.deactivate(id)
        : strongroom.identityProviders.activate(id))
    },
    onSuccess: () => {
      for (const key of ['identity-providers', 'platform-changes']) void client.invalidateQueries({ queryKey: [key] })
      announce(
        status === 'active' ? t('The provider is stopped.') : t('The change waits for another platform administrator.'),
      )
    },
  })
  const enforcing = useWrite({
    renews: ['platform-changes'],
    said: t('The change waits for another platform administrator.'),
    write: () => strongroom.identityProviders.enforce(id, { enforce: !enforce }),
  })
  const authorOnly = isMine ? null : t('Only the platform administrator who added it does this.')
  return (
    <li className="border-b border-line pb-4 last:border-0">
      <p className="mb-2 flex flex-wrap items-center gap-2">
        <Badge tone={status === 'active' ? 'good' : 'waiting'}>
          {status === 'active' ? t('Active') : t('Not active')}
        </Badge>
        {enforce && <Badge tone="good">{t('The only way in')}</Badge>}
        <span className="font-medium">{name}</span>
      </p>
      <Facts
        facts={[
          [t('Issuer'), issuer],
          [t('Domains'), domains.join(', ')],
          [t('Redirect URI'), redirectUri],
          [t('Logout URI'), logoutUri],
          [t('Tried at'), triedAt === null ? null : formatTime(triedAt)],
        ]}
      />
      {act.isError && <Failed error={act.error} retry={() => act.mutate()} />}
      <WriteFailed write={enforcing} />
      <div className="mt-3 flex flex-wrap gap-2">
        {(status === 'active' || enforce) && (
          <Button look="quiet" busy={enforcing.isPending} onClick={() => enforcing.mutate()}>
            {enforce ? t('Ask to permit links and passkeys') : t('Ask to make it the only way in')}
          </Button>
        )}
        {status === 'active' ? (
          <Button look="danger" busy={act.isPending} onClick={() => act.mutate()}>
            {t('Stop')}
          </Button>
        ) : (
          <>
            <Button look="quiet" disabledBecause={authorOnly} onClick={edit}>
              {t('Change')}
            </Button>
            <Button
              look="quiet"
              disabledBecause={authorOnly}
              onClick={() => window.location.assign(`/auth/oidc/${encodeURIComponent(id)}/start`)}
            >
              {t('Try it')}
            </Button>
            <Button
              look="primary"
              busy={act.isPending}
              disabledBecause={authorOnly ?? (triedAt === null ? t('Sign in through it first.') : null)}
              onClick={() => act.mutate()}
            >
              {t('Ask for activation')}
            </Button>
          </>
        )}
      </div>
    </li>
  )
}
