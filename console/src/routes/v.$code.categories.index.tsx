import { createFileRoute } from '@tanstack/react-router'
import { CategoriesPage } from '../features/categories/categories-page.tsx'

export const Route = createFileRoute('/v/$code/categories/')({
  component: () => <CategoriesPage code={Route.useParams().code} />,
})
