import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { useViewer } from '../../lib/viewer.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { BalancesCard } from './balances-card.tsx'
import { FirstRun } from './first-run.tsx'
import { FlowsCard } from './flows-card.tsx'
import { LatestCard } from './latest-card.tsx'
import { ObservationsCard } from './observations-card.tsx'
import { ValueCard } from './value-card.tsx'
import { WaitingCard } from './waiting-card.tsx'

/** What a person wants to know who opens the vault in the morning. */
export function HomePage({ code }: { code: string }) {
  const { data: session } = useQuery(sessionQuery)
  const { isAdmin } = useViewer(code)
  const vault = session?.vaults.find((each) => each.code === code)
  const actions = (
    <Link to={`/v/${code}/send` as '/'} className={buttonClass('primary')}>
      {t('Send')}
    </Link>
  )
  return (
    <Page title={vault?.name ?? t('Home')} actions={actions}>
      {isAdmin && <FirstRun code={code} />}
      <Columns>
        <BalancesCard code={code} />
        <WaitingCard code={code} />
      </Columns>
      <Columns>
        <ValueCard code={code} />
        <ObservationsCard code={code} />
      </Columns>
      <Columns>
        <LatestCard code={code} />
        <FlowsCard code={code} />
      </Columns>
    </Page>
  )
}

function Columns({ children }: { children: ReactNode }) {
  return <div className="grid items-start gap-x-4 lg:grid-cols-[3fr_2fr] [&>*]:min-w-0">{children}</div>
}
