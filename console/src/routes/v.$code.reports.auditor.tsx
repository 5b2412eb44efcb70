import { createFileRoute } from '@tanstack/react-router'
import { AuditorArchive } from '../features/reports/auditor-archive.tsx'
import { searchOf } from '../features/reports/parameters.ts'

export const Route = createFileRoute('/v/$code/reports/auditor')({
  validateSearch: searchOf,
  component: Auditor,
})

function Auditor() {
  const { code } = Route.useParams()
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <AuditorArchive
      code={code}
      // Books are audited by year.
      search={search.period === undefined && search.from === undefined ? { ...search, period: 'lastYear' } : search}
      change={(changed) => navigate({ search: (before) => searchOf({ ...before, ...changed }), replace: true })}
    />
  )
}
