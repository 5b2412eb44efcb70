import type { ChangeSet } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { formatTime, formatTimeLeft } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { Differences, type PolicySentence } from './differences.tsx'
import { DraftChanges } from './draft-changes.tsx'
import { changeSetQuery } from './queries.ts'
import { directionOf, statusOf } from './words.ts'

type ChangeSetPageProps = { code: string; id: string; Sentence: PolicySentence; children: ReactNode }

/** A change set: its effect on the rules, its status, the actions on it, and below them `children`. */
export function ChangeSetPage({ code, id, Sentence, children }: ChangeSetPageProps) {
  const query = useQuery(changeSetQuery(code, id))
  return (
    <Page title={query.data?.title ?? t('Change of the rules')}>
      <DetailState query={query}>
        {query.data !== undefined && <Shown code={code} set={query.data} Sentence={Sentence} />}
      </DetailState>
      {query.data !== undefined && children}
    </Page>
  )
}

type ShownProps = { code: string; set: ChangeSet; Sentence: PolicySentence }

function Shown({ code, set, Sentence }: ShownProps) {
  const isOwn = useIsOwn(code, set)
  const { word, tone } = statusOf(set.status)
  const isOutdated = set.newestVersion !== set.baseVersion && ['draft', 'stale'].includes(set.status)
  return (
    <>
      <Card title={t('Where it stands')} actions={<Badge tone={tone}>{word}</Badge>}>
        <Facts
          facts={[
            [t('Asked by'), set.author?.name ?? set.authorId],
            [t('Asked at'), formatTime(set.createdAt)],
            [t('Effect'), directionOf(set.direction)],
            [t('Based on version'), String(set.baseVersion)],
            [
              t('Takes effect in'),
              set.status === 'scheduled' && set.applyAt !== null ? formatTimeLeft(set.applyAt) : null,
            ],
            [t('Takes effect at'), set.applyAt === null ? null : formatTime(set.applyAt)],
            [t('Version that it made'), set.appliedVersion === null ? null : String(set.appliedVersion)],
            [t('Failed because'), set.failureReason],
            [t('Cancelled by'), set.resolvedBy?.name],
          ]}
        />
        {isOutdated && (
          <p className="mt-3">
            {t('The rules have changed since: they are at version {version} now.', { version: set.newestVersion })}
          </p>
        )}
        <Actions code={code} set={set} />
      </Card>
      {isOwn && set.status === 'draft' && <DraftChanges code={code} set={set} />}
      <Card title={t('What it changes')}>
        <Differences code={code} differences={set.differences} Sentence={Sentence} />
      </Card>
    </>
  )
}

/** Returns true if the reader drafted the change set and may still change it. */
function useIsOwn(code: string, { authorId }: ChangeSet): boolean {
  const isAdmin = useIsAdmin(code)
  const { data: session } = useQuery(sessionQuery)
  return isAdmin && session?.user.id === authorId
}

function Actions({ code, set }: { code: string; set: ChangeSet }) {
  const isAdmin = useIsAdmin(code)
  const isOwn = useIsOwn(code, set)
  const { changeSets } = vaultOf(code)
  const renews = ['governance', code]
  const submit = useWrite({ renews, said: t('It is submitted'), write: () => changeSets.submit(set.id) })
  const rebase = useWrite({
    renews,
    said: t('It is drafted on the newest rules'),
    write: () => changeSets.rebase(set.id),
  })
  const cancel = useWrite({ renews, said: t('It is cancelled'), write: () => changeSets.cancel(set.id) })
  const isOpen = ['draft', 'pending', 'scheduled'].includes(set.status)
  const mayRebase = isOwn && !['applied', 'cancelled'].includes(set.status) && set.newestVersion !== set.baseVersion
  return (
    <>
      <div className="mt-4 flex flex-wrap gap-2">
        {set.requestId !== null && (
          <Link
            to="/v/$code/approvals/request/$id"
            params={{ code, id: set.requestId }}
            className={buttonClass(set.status === 'pending' ? 'primary' : 'plain')}
          >
            {t('See who votes')}
          </Link>
        )}
        {isOwn && set.status === 'draft' && (
          <Button look="primary" busy={submit.isPending} onClick={() => submit.mutate()}>
            {t('Submit')}
          </Button>
        )}
        {mayRebase && (
          <Button busy={rebase.isPending} onClick={() => rebase.mutate()}>
            {t('Rebase on the newest rules')}
          </Button>
        )}
        {isAdmin && isOpen && (
          <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
            {t('Cancel this change')}
          </Button>
        )}
      </div>
      <div className="mt-3">
        <WriteFailed write={submit} />
        <WriteFailed write={rebase} />
        <WriteFailed write={cancel} />
      </div>
    </>
  )
}
