import type { Group, Index, Listed, SearchWords } from './types.ts'

/** A hit of the search. `because` is the matching field or reason, if the name does not match. */
export type Hit = { operation: Listed; group: Group; because: string | null }

/**
 * Finds the operations that contain every word of the phrase. Matches in the name come first, then in the path or
 * group, then in reasons and fields, then in the description. `words` is null until the search data is loaded.
 */
export function search(index: Index, words: SearchWords | null, phrase: string): Hit[] {
  const wanted = phrase.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return []
  const ranked = wanted.map((word) => rankingOf(word, words))
  const found = index.groups.flatMap((group) =>
    group.operations.flatMap((operation) => {
      let sum = operation.summary.toLowerCase() === wanted.join(' ') ? -1_000 : 0
      let because: string | null = null
      for (const rank of ranked) {
        const found = rank(operation, group)
        if (found === null) return []
        sum += found[0]
        because ??= found[1] ?? null
      }
      return [{ operation, group, because, sum }]
    }),
  )
  return found.sort((a, b) => a.sum - b.sum)
}

type Ranking = (operation: Listed, group: Group) => [rank: number, because?: string] | null

/**
 * Returns a function that ranks how well a word matches an operation. The lists of all fields and reasons are searched
 * only once.
 */
function rankingOf(word: string, words: SearchWords | null): Ranking {
  const numbersIn = (list: string[] = []) =>
    new Map(list.flatMap((text, number) => (text.toLowerCase().includes(word) ? [[number, text] as const] : [])))
  const [reasons, fields] = [numbersIn(words?.reasons), numbersIn(words?.fields)]
  return ({ id, verb, path, summary }, group) => {
    const name = `${id} ${summary}`.toLowerCase()
    if (id.toLowerCase() === word || path === word) return [0]
    if (name.split(/\W+/).some((part) => part.startsWith(word))) return [1]
    if (name.includes(word)) return [2]
    if (`${verb} ${path} ${group.name}`.toLowerCase().includes(word)) return [3]
    const entry = words?.operations[id]
    if (entry === undefined) return null
    const texts = [...entry.reasons.map((at) => reasons.get(at)), ...entry.fields.map((at) => fields.get(at))]
    const exact = texts.find((text) => text?.toLowerCase() === word)
    if (exact !== undefined) return [4, exact]
    const partly = texts.find((text) => text !== undefined)
    if (partly !== undefined) return [5, partly]
    return entry.about.toLowerCase().includes(word) ? [6] : null
  }
}
