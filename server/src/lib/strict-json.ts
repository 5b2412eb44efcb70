import { jsonDepthMax } from './limits.ts'

/** Thrown for JSON that parses but means different things to different readers, or is too deep. */
export class StrictJsonError extends Error {}

/**
 * Parses JSON and refuses a document that is ambiguous or dangerous: a repeated key, `__proto__`, half of a surrogate pair, and
 * nesting deeper than `jsonDepthMax`.
 * @throws SyntaxError for invalid JSON, StrictJsonError for JSON that is refused
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  assertUnambiguous(text)
  return value
}

/** Walks text that is known to be valid JSON, so that only strings and brackets matter. */
function assertUnambiguous(text: string): void {
  const keysOfOpen: (Set<string> | null)[] = []
  let expectsKey = false
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charCodeAt(i)
    if (character === 0x22 /* " */) {
      const end = endOfString(text, i)
      assertWellFormed(text.slice(i, end + 1))
      const keys = keysOfOpen.at(-1)
      if (expectsKey && keys) {
        const key = JSON.parse(text.slice(i, end + 1)) as string
        if (key === '__proto__') throw new StrictJsonError('the key "__proto__" is not allowed')
        if (keys.has(key)) throw new StrictJsonError(`the key ${JSON.stringify(key)} is given twice`)
        keys.add(key)
        expectsKey = false
      }
      i = end
    } else if (character === 0x7b /* { */ || character === 0x5b /* [ */) {
      keysOfOpen.push(character === 0x7b ? new Set() : null)
      if (keysOfOpen.length > jsonDepthMax) throw new StrictJsonError(`is nested deeper than ${jsonDepthMax} levels`)
      expectsKey = character === 0x7b
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) {
      keysOfOpen.pop()
      expectsKey = false
    } else if (character === 0x2c /* , */) {
      expectsKey = keysOfOpen.at(-1) !== null
    }
  }
}

const halfPair = /\p{Surrogate}/u

/** Refuses half of a surrogate pair, which only an escape can produce. It is not a character, and PostgreSQL cannot store it. */
function assertWellFormed(literal: string): void {
  if (literal.includes('\\u') && halfPair.test(JSON.parse(literal) as string)) {
    throw new StrictJsonError('contains a character that cannot be stored')
  }
}

function endOfString(text: string, start: number): number {
  let i = start + 1
  while (text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c /* \ */ ? 2 : 1
  return i
}
