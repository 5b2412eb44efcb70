import { useQuery } from '@tanstack/react-query'
import { membershipQuery } from './membership.ts'
import { sessionQuery } from './session.ts'

export type Viewer = {
  userId: string | null
  isAdmin: boolean
  /** True if the reader sees everything that administrators see, and changes nothing. */
  isAuditor: boolean
  /** True if some policy may let the reader order transfers. */
  maySend: boolean
}

/** Returns the reader's rights in a vault. Until they are known, the reader has no special rights. */
export function useViewer(code: string): Viewer {
  const { data: session } = useQuery(sessionQuery)
  const { data: membership } = useQuery(membershipQuery(code))
  const vault = session?.vaults.find((candidate) => candidate.code === code)
  return {
    userId: session?.user.id ?? null,
    isAdmin: vault?.isAdmin ?? false,
    isAuditor: membership?.isAuditor ?? false,
    maySend: membership?.may.transfer !== 'deny',
  }
}
