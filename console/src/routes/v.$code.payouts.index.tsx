import { createFileRoute, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { PayoutList } from '../features/payouts/payout-list.tsx'
import { t } from '../lib/language.ts'
import { useViewer } from '../lib/viewer.ts'
import { buttonClass } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'

export const Route = createFileRoute('/v/$code/payouts/')({ component: Payouts })

function Payouts() {
  const { code } = Route.useParams()
  const { maySend } = useViewer(code)
  return (
    <Page
      title={t('Payouts')}
      actions={
        maySend && (
          <Link to="/v/$code/payouts/new" params={{ code }} className={buttonClass('primary')}>
            <Plus size={16} aria-hidden /> {t('Send many')}
          </Link>
        )
      }
    >
      <PayoutList code={code} />
    </Page>
  )
}
