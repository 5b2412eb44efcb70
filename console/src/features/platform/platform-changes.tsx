import type { PlatformChange } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { nameOf, sessionQuery } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card, type Fact, Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { changeTargetQuery, platformChangesQuery } from './queries.ts'

type Decision = 'confirm' | 'reject'

/** Changes of the platform that vaults with governance depend on. A second platform administrator decides on each. */
export function PlatformChanges() {
  const query = useInfiniteQuery(platformChangesQuery)
  const changes = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [chosen, choose] = useState<{ change: PlatformChange; decision: Decision } | null>(null)
  return (
    <Card title={t('Changes that wait for a second platform administrator')}>
      <ListState query={query} isEmpty={changes.length === 0} empty={<p>{t('No change waits for a decision.')}</p>}>
        <ul className="grid gap-4">
          {changes.map((change) => (
            <Waiting key={change.id} change={change} choose={(decision) => choose({ change, decision })} />
          ))}
        </ul>
      </ListState>
      <Sheet
        title={chosen?.decision === 'reject' ? t('Reject this change?') : t('Confirm this change?')}
        open={chosen !== null}
        onClose={() => choose(null)}
      >
        {chosen !== null && <Decide {...chosen} onDone={() => choose(null)} />}
      </Sheet>
    </Card>
  )
}

function Waiting({ change, choose }: { change: PlatformChange; choose: (decision: Decision) => void }) {
  const { data: session } = useQuery(sessionQuery)
  const isMine = session?.user.id === change.createdById
  return (
    <li className="border-b border-line pb-4 last:border-0">
      <ChangeShown change={change} />
      <div className="mt-3 flex flex-wrap gap-2">
        <Button
          look="primary"
          disabledBecause={isMine ? t('You asked for it: another platform administrator must confirm it.') : null}
          onClick={() => choose('confirm')}
        >
          {t('Confirm')}
        </Button>
        <Button look="danger" onClick={() => choose('reject')}>
          {t('Reject')}
        </Button>
      </div>
    </li>
  )
}

function ChangeShown({ change }: { change: PlatformChange }) {
  const { action, targetId, payload, createdBy, createdById, createdAt } = change
  const { data: target } = useQuery(changeTargetQuery(change))
  const values = Object.entries(payload).map(
    ([name, value]): Fact => [
      wordOf(name),
      target && name in target.now ? (
        <>
          <del className="text-quiet">{textOf(target.now[name])}</del> <ins>{textOf(value)}</ins>
        </>
      ) : (
        textOf(value)
      ),
    ],
  )
  return (
    <>
      <p className="mb-2 flex flex-wrap items-center gap-2">
        <Badge tone="waiting">{t('Waits for a decision')}</Badge>
        <span className="font-medium">{wordsOf(action).what}</span>
      </p>
      <Facts
        facts={[
          [wordsOf(action).target, target?.name ?? null],
          [
            t('Identifier'),
            <span key="id" className="code [overflow-wrap:anywhere]">
              {targetId}
            </span>,
          ],
          ...values,
          [t('Asked by'), createdBy === null ? createdById : nameOf(createdBy)],
          [t('Asked at'), formatTime(createdAt)],
        ]}
      />
    </>
  )
}

/** Returns the words for an action and for its target. */
function wordsOf(action: PlatformChange['action']): { what: string; target: string } {
  switch (action) {
    case 'token_update':
      return { what: t('Change of a token'), target: t('Token') }
    case 'user_enable':
      return { what: t('Access again'), target: t('User') }
    case 'identity_provider_activate':
      return { what: t('Sign-in through a provider'), target: t('Identity provider') }
    case 'directory_activate':
      return { what: t('People from a directory'), target: t('Directory') }
    case 'identity_provider_enforce':
      return { what: t('The only way in'), target: t('Identity provider') }
    case 'break_glass_name':
      return { what: t('New break-glass person'), target: t('Person') }
    case 'break_glass_remove':
      return { what: t('End of a break-glass person'), target: t('Person') }
  }
}

function wordOf(name: string): string {
  const words: Record<string, string> = {
    name: t('Name'),
    symbol: t('Symbol'),
    dustLimit: t('Dust limit'),
    reason: t('Reason'),
    enforce: t('Nobody signs in without it'),
  }
  return words[name] ?? name
}

const textOf = (value: unknown) => (value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value))

type DecideProps = { change: PlatformChange; decision: Decision; onDone: () => void }

function Decide({ change, decision, onDone }: DecideProps) {
  const client = useQueryClient()
  const decide = useMutation({
    mutationFn: () => strongroom.platformChanges[decision](change.id),
    onSuccess: ({ status }) => {
      for (const key of ['platform-changes', 'tokens', 'platform-users'])
        void client.invalidateQueries({ queryKey: [key] })
      announce(status === 'confirmed' ? t('The change is made.') : t('The change is rejected.'))
      onDone()
    },
  })
  return (
    <>
      <ChangeShown change={change} />
      {decide.isError && <Failed error={decide.error} retry={() => decide.mutate()} />}
      <Button
        className="mt-4"
        look={decision === 'reject' ? 'danger' : 'primary'}
        busy={decide.isPending}
        onClick={() => decide.mutate()}
      >
        {decision === 'reject' ? t('Reject') : t('Confirm')}
      </Button>
    </>
  )
}
