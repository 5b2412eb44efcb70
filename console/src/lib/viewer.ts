import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from './session.ts'

/** Who looks at a vault. Until that is known, nobody in particular. */
export function useViewer(code: string): { userId: string | null; isAdmin: boolean } {
  const { data: session } = useQuery(sessionQuery)
  const vault = session?.vaults.find((each) => each.code === code)
  return { userId: session?.user.id ?? null, isAdmin: vault?.isAdmin ?? false }
}
