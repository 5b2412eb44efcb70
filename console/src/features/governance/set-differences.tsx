import { useQuery } from '@tanstack/react-query'
import { DetailState } from '../../ui/list-states.tsx'
import { Differences, type PolicySentence } from './differences.tsx'
import { changeSetQuery } from './queries.ts'

/** What a change set makes of the rules, for those who vote on it. */
export function SetDifferences({ code, id, Sentence }: { code: string; id: string; Sentence: PolicySentence }) {
  const query = useQuery(changeSetQuery(code, id))
  return (
    <DetailState query={query}>
      {query.data !== undefined && <Differences code={code} differences={query.data.differences} Sentence={Sentence} />}
    </DetailState>
  )
}
