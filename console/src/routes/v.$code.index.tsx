import { createFileRoute } from '@tanstack/react-router'
import { HomePage } from '../features/home/home-page.tsx'

export const Route = createFileRoute('/v/$code/')({
  component: () => <HomePage code={Route.useParams().code} />,
})
