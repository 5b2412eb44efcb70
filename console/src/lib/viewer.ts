import { useQuery } from '@tanstack/react-query'
import { membershipQuery } from './membership.ts'
import { sessionQuery } from './session.ts'

export type Viewer = {
  userId: string | null
  isAdmin: boolean
  /** Reads what administrators read, and changes nothing. */
  isAuditor: boolean
  /** Some policy may let the person order transfers. */
  maySend: boolean
}

/** Who looks at a vault. Until that is known, nobody in particular. */
export function useViewer(code: string): Viewer {
  const { data: session } = useQuery(sessionQuery)
  const { data: membership } = useQuery(membershipQuery(code))
  const vault = session?.vaults.find((each) => each.code === code)
  return {
    userId: session?.user.id ?? null,
    isAdmin: vault?.isAdmin ?? false,
    isAuditor: membership?.isAuditor ?? false,
    maySend: membership?.may.transfer !== 'deny',
  }
}
