import { createFileRoute } from '@tanstack/react-router'
import { PeoplePage } from '../features/people/people-page.tsx'
import { type PeopleTab, peopleTabs } from '../features/people/tabs.ts'

export const Route = createFileRoute('/v/$code/people')({
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: PeopleTab } =>
    peopleTabs.includes(tab as PeopleTab) && tab !== 'members' ? { tab: tab as PeopleTab } : {},
  component: () => <PeoplePage code={Route.useParams().code} tab={Route.useSearch().tab ?? 'members'} />,
})
