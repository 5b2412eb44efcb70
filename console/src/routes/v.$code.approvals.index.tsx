import { createFileRoute, Link } from '@tanstack/react-router'
import { InboxList } from '../features/approvals/inbox-list.tsx'
import type { InboxState } from '../features/approvals/queries.ts'
import { t } from '../lib/language.ts'
import { Page } from '../ui/page.tsx'

const states: readonly InboxState[] = ['waiting', 'decided', 'mine']

export const Route = createFileRoute('/v/$code/approvals/')({
  validateSearch: ({ state }: Record<string, unknown>): { state?: InboxState } => {
    const known = states.find((candidate) => candidate === state)
    return known === undefined ? {} : { state: known }
  },
  component: Approvals,
})

function Approvals() {
  const { state = 'waiting' } = Route.useSearch()
  const words = { waiting: t('Waiting for me'), decided: t('Decided by me'), mine: t('Asked by me') }
  return (
    <Page title={t('Approvals')}>
      <nav aria-label={t('Which approvals')} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {states.map((option) => (
          <Link
            key={option}
            from={Route.fullPath}
            search={{ state: option }}
            aria-current={option === state ? 'page' : undefined}
            className={`min-h-11 content-center border-b-2 px-4 whitespace-nowrap ${option === state ? 'border-accent font-medium' : 'border-transparent text-quiet hover:text-ink'}`}
          >
            {words[option]}
          </Link>
        ))}
      </nav>
      <InboxList state={state} />
    </Page>
  )
}
