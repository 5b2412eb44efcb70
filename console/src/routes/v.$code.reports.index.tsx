import { createFileRoute } from '@tanstack/react-router'
import { ReportList } from '../features/reports/report-page.tsx'

export const Route = createFileRoute('/v/$code/reports/')({
  component: () => <ReportList code={Route.useParams().code} />,
})
