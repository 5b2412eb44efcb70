import type { PolicyListItem } from '@strongroom/sdk'
import { useVocabulary } from './queries.ts'
import { draftOf } from './terms.ts'
import { sentenceOf } from './words.ts'

type PolicySentenceProps = {
  code: string
  /** As the document of the rules has it. */
  policy: Record<string, unknown>
  /** Of what does not exist yet, or no longer. */
  names: ReadonlyMap<string, string>
}

type RulesApprover = { kind: 'user' | 'group'; id: string; threshold: number | null }

/** A policy of the rules, as a sentence. */
export function PolicySentence({ code, policy, names }: PolicySentenceProps) {
  const { vocabulary } = useVocabulary(code)
  if (vocabulary === undefined) return '…'
  const approvers = (policy.approvers as RulesApprover[]).map(({ kind, id, threshold }) => ({
    ...{ kind, threshold },
    ...(kind === 'user' ? { userId: id } : { groupId: id }),
  }))
  const draft = draftOf({ ...(policy as unknown as PolicyListItem), approvers })
  return sentenceOf(draft, (kind, id) => names.get(id) ?? vocabulary.names(kind, id))
}
