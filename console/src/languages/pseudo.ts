/**
 * Every text 40 % longer and with accents, to find cut texts and texts that cannot be translated. Made from the German
 * keys.
 */
import { messages as german } from './de.ts'
import { messages as more } from './de-more.ts'

export const messages: Record<string, string> = Object.fromEntries(
  [...Object.keys(german), ...Object.keys(more)].map((key) => [key, stretch(key)]),
)

function stretch(text: string): string {
  let depth = 0
  const marked = [...text].map((letter) => {
    if (letter === '{') depth += 1
    if (letter === '}') depth -= 1
    return depth === 0 ? (accents[letter] ?? letter) : letter
  })
  return `[${marked.join('')}${'~'.repeat(Math.ceil(text.length * 0.4))}]`
}

const accents: Record<string, string> = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ó',
  u: 'ú',
  A: 'Á',
  E: 'É',
  I: 'Í',
  O: 'Ó',
  U: 'Ú',
}
