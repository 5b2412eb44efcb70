import { useVocabulary } from './queries.ts'
import { draftOf, type PolicyParts } from './terms.ts'
import { sentenceOf } from './words.ts'

type PolicySentenceProps = {
  code: string
  /** The policy as in the document of the rules. */
  policy: Record<string, unknown>
  /** Names of objects that do not exist yet, or no longer. */
  names: ReadonlyMap<string, string>
}

/** The policy in the document of the rules, which the API types as any object. */
type RulesPolicy = Omit<PolicyParts, 'approvers'> & {
  approvers: { kind: 'user' | 'group'; id: string; threshold: number | null }[]
}

/** A policy of the rules, as a sentence. */
export function PolicySentence({ code, policy, names }: PolicySentenceProps) {
  const { vocabulary } = useVocabulary(code)
  if (vocabulary === undefined) return '…'
  const parts = policy as RulesPolicy
  const approvers = parts.approvers.map(({ kind, id, threshold }) => ({
    ...{ kind, threshold },
    ...(kind === 'user' ? { userId: id } : { groupId: id }),
  }))
  const draft = draftOf({ ...parts, approvers })
  return sentenceOf(draft, (kind, id) => names.get(id) ?? vocabulary.names(kind, id))
}
