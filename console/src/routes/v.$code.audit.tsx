import { createFileRoute } from '@tanstack/react-router'
import AuditLog from '../features/audit/audit-log.tsx'
import { auditSearchOf } from '../features/audit/filter.ts'
import { t } from '../lib/language.ts'
import { Page } from '../ui/page.tsx'

export const Route = createFileRoute('/v/$code/audit')({ validateSearch: auditSearchOf, component: Audit })

function Audit() {
  const { code } = Route.useParams()
  const navigate = Route.useNavigate()
  return (
    <Page title={t('Audit')}>
      <AuditLog
        log={{ code }}
        search={Route.useSearch()}
        change={(changed) => navigate({ search: (before) => auditSearchOf({ ...before, ...changed }), replace: true })}
      />
    </Page>
  )
}
