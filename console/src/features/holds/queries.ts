import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { membershipQuery } from '../../lib/membership.ts'
import { useViewer } from '../../lib/viewer.ts'
import type { SubjectType } from './words.ts'

/** The texts about holds, for the pages of the objects that are held. */
export { pathOf, placerOf, type SubjectType, subjectWord } from './words.ts'

export type Subject = { type: SubjectType; id: string }

type HoldFilter = { active?: boolean; subjectType?: SubjectType }

export function holdsQuery(code: string, filter: HoldFilter) {
  return infiniteQueryOptions({
    queryKey: ['holds', code, 'list', filter],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .holds.list({ ...filter, limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/**
 * Reads the active holds on a subject that the reader may see: at most one placed by people, and one placed by the
 * screening.
 */
export function holdsOnQuery(code: string, { type, id }: Subject) {
  return queryOptions({
    queryKey: ['holds', code, 'on', type, id],
    queryFn: async ({ signal }) => {
      const filter = { active: true, subjectType: type, subjectId: id, limit: 2 }
      const { items } = await vaultOf(code).holds.list(filter, { signal }).page()
      return items
    },
  })
}

export function holdQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['holds', code, 'one', id],
    queryFn: ({ signal }) => vaultOf(code).holds.get(id, { signal }),
    enabled: id !== '',
  })
}

/** Returns true for administrators, and for members to whom a policy allows holds without votes. */
export function useMayPlace(code: string): boolean {
  const { isAdmin } = useViewer(code)
  const { data: membership } = useQuery(membershipQuery(code))
  return isAdmin || membership?.may.hold_place === 'allow'
}

/** Returns true if the reader may request a release. Others vote on it. */
export function useMayRelease(code: string): boolean {
  const { data: membership } = useQuery(membershipQuery(code))
  const { isAdmin } = useViewer(code)
  return isAdmin || (membership !== undefined && membership.may.hold_release !== 'deny')
}
