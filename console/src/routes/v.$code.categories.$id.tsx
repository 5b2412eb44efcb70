import { createFileRoute } from '@tanstack/react-router'
import { CategoryPage } from '../features/categories/category-page.tsx'

export const Route = createFileRoute('/v/$code/categories/$id')({
  component: () => {
    const { code, id } = Route.useParams()
    return <CategoryPage key={id} code={code} id={id} />
  },
})
