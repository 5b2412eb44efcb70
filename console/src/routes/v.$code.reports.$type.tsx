import { createFileRoute, notFound } from '@tanstack/react-router'
import { searchOf } from '../features/reports/parameters.ts'
import { ReportPage } from '../features/reports/report-page.tsx'
import { isReportType } from '../features/reports/types.ts'

export const Route = createFileRoute('/v/$code/reports/$type')({
  validateSearch: searchOf,
  component: Report,
})

function Report() {
  const { code, type } = Route.useParams()
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  if (!isReportType(type)) throw notFound()
  return (
    <ReportPage
      // Resets the fields when another report is opened.
      key={type}
      code={code}
      type={type}
      search={search}
      change={(changed) => navigate({ search: (before) => searchOf({ ...before, ...changed }), replace: true })}
    />
  )
}
