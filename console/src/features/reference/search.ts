import type { Group, Index, Listed, SearchWords } from './types.ts'

/** An operation that was found, and by which field or reason where its name does not say it. */
export type Hit = { operation: Listed; group: Group; because: string | null }

/**
 * The operations in which every word of the phrase occurs, the best first: in the name, the path or the group, before in
 * reasons and fields, before in the description. `words` is null until they are loaded.
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

/** How well a word fits an operation; the lists of all fields and reasons are looked through once. */
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
    const own = words?.operations[id]
    if (own === undefined) return null
    const texts = [...own.reasons.map((at) => reasons.get(at)), ...own.fields.map((at) => fields.get(at))]
    const exact = texts.find((text) => text?.toLowerCase() === word)
    if (exact !== undefined) return [4, exact]
    const partly = texts.find((text) => text !== undefined)
    if (partly !== undefined) return [5, partly]
    return own.about.toLowerCase().includes(word) ? [6] : null
  }
}
