import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { Card, Page } from '../../ui/page.tsx'
import { Groups } from './groups.tsx'
import { Invitations } from './invitations.tsx'
import { Members } from './members.tsx'
import { useIsAdmin } from './queries.ts'
import { ServiceTokens } from './service-tokens.tsx'
import { type PeopleTab, peopleTabs } from './tabs.ts'

/** The members of the vault, their groups, the invitations, and the programs that have access. */
export function PeoplePage({ code, tab }: { code: string; tab: PeopleTab }) {
  const isAdmin = useIsAdmin(code)
  const titles: Record<PeopleTab, string> = {
    members: t('Members'),
    groups: t('Groups'),
    invitations: t('Invitations'),
    tokens: t('Service tokens'),
  }
  const shown = peopleTabs.filter((name) => isAdmin || name === 'members' || name === 'groups')
  return (
    <Page title={t('People')}>
      <nav aria-label={t('People')} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {shown.map((name) => (
          <Link
            key={name}
            to="/v/$code/people"
            params={{ code }}
            search={name === 'members' ? {} : { tab: name }}
            activeOptions={{ includeSearch: true, exact: true }}
            className="flex min-h-11 items-center border-b-2 px-3 whitespace-nowrap"
            inactiveProps={{ className: 'border-transparent text-quiet hover:text-ink' }}
            activeProps={{ className: 'border-accent font-medium', 'aria-current': 'page' }}
          >
            {titles[name]}
          </Link>
        ))}
      </nav>
      <Card title={titles[tab]}>
        {tab === 'members' && <Members code={code} />}
        {tab === 'groups' && <Groups code={code} />}
        {tab === 'invitations' && isAdmin && <Invitations code={code} />}
        {tab === 'tokens' && isAdmin && <ServiceTokens code={code} />}
      </Card>
    </Page>
  )
}
