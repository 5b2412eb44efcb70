import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue } from 'react'
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
import { balancesQuery } from './queries.ts'
import { ValueCard } from './value-card.tsx'
import { WaitingCard } from './waiting-card.tsx'

/** The home page of a vault, for a person who opens it in the morning. */
export function HomePage({ code }: { code: string }) {
  const { data: session } = useQuery(sessionQuery)
  const { isAdmin, maySend } = useViewer(code)
  // Cards further down load when the first figures have arrived.
  const isFirst = useDeferredValue(useQuery(balancesQuery(code)).isPending)
  const vault = session?.vaults.find((candidate) => candidate.code === code)
  const actions = maySend && (
    <Link to={`/v/${code}/send` as '/'} className={buttonClass('primary')}>
      {t('Send')}
    </Link>
  )
  return (
    <Page title={vault?.name ?? t('Home')} actions={actions}>
      {isAdmin && !isFirst && <FirstRun code={code} />}
      <div className="items-start gap-x-4 max-lg:flex max-lg:flex-col max-lg:*:contents lg:grid lg:grid-cols-[3fr_2fr]">
        <Column>
          <BalancesCard code={code} />
          <ValueCard code={code} />
          <LatestCard code={code} enabled={!isFirst} />
        </Column>
        <Column isSide>
          <WaitingCard code={code} />
          <ObservationsCard code={code} enabled={!isFirst} />
          <FlowsCard code={code} enabled={!isFirst} />
        </Column>
      </div>
    </Page>
  )
}

/** On a narrow screen, the cards of both columns alternate in a single column. */
function Column({ isSide = false, children }: { isSide?: boolean; children: ReactNode }) {
  const orders = isSide
    ? 'max-lg:[&>:nth-child(1)]:order-1 max-lg:[&>:nth-child(2)]:order-3 max-lg:[&>:nth-child(3)]:order-5'
    : 'max-lg:[&>:nth-child(2)]:order-2 max-lg:[&>:nth-child(3)]:order-4'
  return <div className={`min-w-0 max-lg:*:w-full max-lg:*:min-w-0 ${orders}`}>{children}</div>
}
