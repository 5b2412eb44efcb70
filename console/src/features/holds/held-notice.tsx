import { StrongroomError } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../../lib/language.ts'
import { membershipQuery } from '../../lib/membership.ts'
import { formatTime } from '../../lib/time.ts'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { holdsQuery } from './queries.ts'

/** The pages of a vault. If a hold stops the reader in it, shows the placer and the reason instead. */
export function UnlessHeld({ code, children }: { code: string; children: ReactNode }) {
  const { error } = useQuery(membershipQuery(code))
  const isHeld = error instanceof StrongroomError && error.reason === 'caller_held'
  return isHeld ? <HeldNotice code={code} /> : children
}

function HeldNotice({ code }: { code: string }) {
  const { data } = useInfiniteQuery(holdsQuery(code, { active: true }))
  const hold = data?.pages[0]?.items[0]
  return (
    <Page title={t('You are held in this vault')}>
      <Card>
        <p className="mb-4">{t('You can neither read nor do anything here until two people release the hold.')}</p>
        {hold !== undefined && (
          <Facts
            facts={[
              [t('Reason'), hold.reason],
              [t('Placed by'), hold.placedBy?.name ?? t('Strongroom itself')],
              [t('Placed'), formatTime(hold.createdAt)],
            ]}
          />
        )}
      </Card>
    </Page>
  )
}
