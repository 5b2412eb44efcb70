import type { ApprovalRequest } from '@strongroom/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { canHash, canonicalJson, sha256 } from '../../lib/hashes.ts'
import { t } from '../../lib/language.ts'
import { DetailState } from '../../ui/list-states.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Differences, type PolicySentence } from './differences.tsx'

type SignedDifferencesProps = {
  code: string
  request: ApprovalRequest
  Sentence: PolicySentence
  /** Draws the page of the vote around the differences. */
  children: (shown: ReactNode) => ReactNode
}

/**
 * The differences that the votes on a change of the rules are bound to. If the service answers other differences, the
 * page shows nothing and takes no vote.
 */
export function SignedDifferences({ code, request, Sentence, children }: SignedDifferencesProps) {
  const hash = hashIn(request)
  const query = useQuery({ ...signedDifferencesQuery(code, request.targetId ?? '', hash), enabled: hash !== '' })
  if (hash === '') return children(null)
  if (query.error instanceof OtherDifferencesError) return <Problem error={query.error} />
  if (query.isPending) return <DetailState query={query}>{null}</DetailState>
  return children(
    <DetailState query={query}>
      {query.data !== undefined && <Differences code={code} differences={query.data} Sentence={Sentence} />}
    </DetailState>,
  )
}

/** Returns the hash of the differences, or '' for a request of an earlier version of the service. */
function hashIn({ boundPayload }: ApprovalRequest): string {
  const [first] = boundPayload.steps as { step?: { payload?: { differencesHash?: string } } }[]
  return first?.step?.payload?.differencesHash ?? ''
}

/** Thrown when the service answers differences that the votes are not bound to. */
class OtherDifferencesError extends Error {}

/** Reads the differences of a change set. Throws unless their hash is the hash that the votes are bound to. */
const signedDifferencesQuery = (code: string, id: string, hash: string) =>
  queryOptions({
    queryKey: ['governance', code, 'set', id, 'differences', hash],
    queryFn: async ({ signal }) => {
      const { differences } = await vaultOf(code).changeSets.get(id, { signal })
      // Without WebCrypto, over plain HTTP, the hash is not checked; such a page cannot sign either.
      if (canHash() && (await sha256(canonicalJson(differences))) !== hash)
        throw new OtherDifferencesError(
          t('What is shown is not what votes are bound to: nothing can be voted on here.'),
        )
      return differences
    },
  })
