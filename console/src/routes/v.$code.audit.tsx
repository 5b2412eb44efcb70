import { createFileRoute } from '@tanstack/react-router'
import { AuditPage } from '../features/audit/audit-page.tsx'
import { type AuditSearch, filterNames } from '../features/audit/filter.ts'
import { t } from '../lib/language.ts'

export const Route = createFileRoute('/v/$code/audit')({ validateSearch: searchOf, component: Audit })

function searchOf(raw: Record<string, unknown>): AuditSearch {
  const given = filterNames.filter((name) => typeof raw[name] === 'string' && raw[name] !== '')
  return Object.fromEntries(given.map((name) => [name, raw[name]]))
}

function Audit() {
  const { code } = Route.useParams()
  const navigate = Route.useNavigate()
  return (
    <AuditPage
      log={{ code }}
      title={t('Audit')}
      search={Route.useSearch()}
      change={(changed) => navigate({ search: (before) => searchOf({ ...before, ...changed }), replace: true })}
    />
  )
}
