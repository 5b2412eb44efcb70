import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { MePage } from '../features/me/me-page.tsx'
import { sessionQuery } from '../lib/session.ts'
import { Frame } from '../ui/frame.tsx'

export const Route = createFileRoute('/me')({ component: Me })

function Me() {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Frame isPlatformAdmin={session?.isPlatformAdmin ?? false}>
      <MePage />
    </Frame>
  )
}
