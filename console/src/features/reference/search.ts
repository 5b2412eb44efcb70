import type { Group, Index, Listed, SearchWords } from './types.ts'

/** An operation that was found, and by which field or reason where its name does not say it. */
export type Hit = { operation: Listed; group: Group; because: string | null }

/**
 * The operations in which every word of the phrase occurs, the best first: in the name, the path or the group, before in
 * fields and reasons, before in the description. `words` is null until they are loaded.
 */
export function search(index: Index, words: SearchWords | null, phrase: string): Hit[] {
  const wanted = phrase.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return []
  const found = index.groups.flatMap((group) =>
    group.operations.flatMap((operation) => {
      const ranks = wanted.map((word) => rankOf(word, operation, group, words))
      if (ranks.some((rank) => rank === null)) return []
      const sum = ranks.reduce((total, rank) => total + rank!.rank, 0)
      return [{ operation, group, because: ranks.find((rank) => rank!.because !== null)?.because ?? null, sum }]
    }),
  )
  return found.sort((a, b) => a.sum - b.sum).map(({ sum: _sum, ...hit }) => hit)
}

type Rank = { rank: number; because: string | null }

function rankOf(word: string, operation: Listed, group: Group, words: SearchWords | null): Rank | null {
  const { id, verb, path, summary } = operation
  const name = [id, summary].join(' ').toLowerCase()
  if (id.toLowerCase() === word || path === word) return { rank: 0, because: null }
  if (name.split(/\W+/).some((part) => part.startsWith(word))) return { rank: 1, because: null }
  if (name.includes(word)) return { rank: 2, because: null }
  if ([verb, path, group.name].join(' ').toLowerCase().includes(word)) return { rank: 3, because: null }
  const own = words?.operations[id]
  if (words === null || own === undefined) return null
  const exact = inLists(words, own, (text) => text === word)
  if (exact !== null) return { rank: 4, because: exact }
  const partly = inLists(words, own, (text) => text.includes(word))
  if (partly !== null) return { rank: 5, because: partly }
  return own.about.toLowerCase().includes(word) ? { rank: 6, because: null } : null
}

function inLists(
  { fields, reasons }: SearchWords,
  own: { fields: number[]; reasons: number[] },
  fits: (text: string) => boolean,
): string | null {
  const texts = [...own.reasons.map((at) => reasons[at]!), ...own.fields.map((at) => fields[at]!)]
  return texts.find((text) => fits(text.toLowerCase())) ?? null
}
