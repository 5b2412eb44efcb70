import { createFileRoute } from '@tanstack/react-router'
import { BooksPage } from '../features/books/books-page.tsx'
import { type BooksSearch, parts } from '../features/books/parts.ts'

export const Route = createFileRoute('/v/$code/books')({
  validateSearch: (search: Record<string, unknown>): BooksSearch => {
    const part = parts.find((name) => name === search.part)
    return {
      ...(part === undefined ? {} : { part }),
      ...(typeof search.addressId === 'string' ? { addressId: search.addressId } : {}),
      ...(typeof search.tokenId === 'string' ? { tokenId: search.tokenId } : {}),
      ...(typeof search.verification === 'string' ? { verification: search.verification } : {}),
      ...(search.purpose === 'reserved' ? { purpose: 'reserved' } : {}),
    }
  },
  component: Books,
})

function Books() {
  const navigate = Route.useNavigate()
  return (
    <BooksPage
      code={Route.useParams().code}
      search={Route.useSearch()}
      change={(changed) => navigate({ search: (before) => ({ ...before, ...changed }), replace: true })}
    />
  )
}
