import { createFileRoute } from '@tanstack/react-router'
import { groupQuery, indexQuery } from '../features/reference/queries.ts'
import { ReferencePage } from '../features/reference/reference-page.tsx'

export const Route = createFileRoute('/docs/$')({
  // What a link leads to loads while the pointer is on it.
  loader: ({ context: { queryClient }, params: { _splat = '' } }) => {
    void queryClient.prefetchQuery(indexQuery)
    const group = groupQuery(_splat.split('/')[0])
    if (group !== null) void queryClient.prefetchQuery(group)
  },
  component: Reference,
})

function Reference() {
  const { _splat = '' } = Route.useParams()
  return <ReferencePage path={_splat} />
}
