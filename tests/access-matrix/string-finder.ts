/** The number of characters at the end of a string by which it is looked up. */
const endLength = 6
/** A character is shifted out of the hash by the six that follow it: five bits each, of thirty. */
const addTo = (hash: number, character: number) => ((hash << 5) ^ character) & 0x3fffffff

/**
 * Finds strings in a text. One pass over the text finds all of them: to ask the text for thousands of strings, one after the other,
 * took longer than the answers themselves.
 */
export class StringFinder {
  readonly #sets: ReadonlySet<string>[]
  /** The sizes of the sets when their strings were added. Strings are never taken out of them. */
  readonly #sizes = new Map<ReadonlySet<string>, number>()
  readonly #byEnd = new Map<number, Set<string>>()
  #last = { text: '', count: 0, found: new Set<string>() }
  #count = 0

  constructor(sets: ReadonlySet<string>[]) {
    this.#sets = sets
  }

  /** Returns the strings of all sets that are in the text. */
  foundIn(text: string): Set<string> {
    this.#addNew()
    // Every caller reads the same openapi.json.
    if (this.#last.text === text && this.#last.count === this.#count) return this.#last.found
    const found = new Set<string>()
    let hash = 0
    for (let at = 0; at < text.length; at += 1) {
      hash = addTo(hash, text.charCodeAt(at))
      const candidates = this.#byEnd.get(hash)
      if (candidates === undefined) continue
      for (const string of candidates) if (text.endsWith(string, at + 1)) found.add(string)
    }
    this.#last = { text, count: this.#count, found }
    return found
  }

  #addNew(): void {
    for (const set of this.#sets) {
      if (this.#sizes.get(set) === set.size) continue
      for (const string of set) this.#add(string)
      this.#sizes.set(set, set.size)
    }
  }

  #add(string: string): void {
    if (string.length < endLength) throw new Error(`${string} is too short: it is in texts by chance`)
    let end = 0
    for (let at = string.length - endLength; at < string.length; at += 1) end = addTo(end, string.charCodeAt(at))
    const known = this.#byEnd.get(end) ?? new Set()
    if (known.has(string)) return
    this.#byEnd.set(end, known.add(string))
    this.#count += 1
  }
}
