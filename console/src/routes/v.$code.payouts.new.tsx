import { createFileRoute } from '@tanstack/react-router'
import { PayoutPage } from '../features/payouts/payout-page.tsx'
import { t } from '../lib/language.ts'
import { Page } from '../ui/page.tsx'

export const Route = createFileRoute('/v/$code/payouts/new')({ component: New })

function New() {
  const { code } = Route.useParams()
  return (
    <Page title={t('Send many')}>
      <PayoutPage key={code} code={code} />
    </Page>
  )
}
