import { codes, filterLabels, labels, type TextName, texts, titles } from './phrases.ts'
import { sentences } from './sentences.ts'

/** The languages of a page. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** The words of a page in one language. */
export type Words = {
  language: Language
  /** Returns a fixed text with its gaps filled in. */
  text(name: TextName, gaps?: Record<string, string | number>): string
  titleOf(reportType: string): string
  /** Returns the words for a label that follows from a schema; a label without words, such as that of a category, is kept. */
  label(label: string): string
  filter(label: string): string
  /** Returns the words for a value of an enumeration; another value is kept. */
  code(code: string): string
  /** Returns a sentence of the service without ids, and with instants as `print` has them. */
  sentence(text: string, print: (instant: string) => string): string
  /** Returns a day such as `31 January 2026`. */
  day(instant: Date, zone: string): string
}

const instants = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
const ids = / ?\bc[a-z0-9]{23,31}\b/g

export function wordsOf(language: Language): Words {
  const index = languages.indexOf(language) as 0 | 1
  const among = (phrases: Readonly<Record<string, readonly [string, string]>>) => (key: string) =>
    Object.hasOwn(phrases, key) ? phrases[key]![index] : key
  const label = among(labels)
  const filter = among(filterLabels)
  return {
    language,
    text: (name, gaps = {}) => texts[name][index].replace(/\{(\w+)\}/g, (_, gap: string) => String(gaps[gap])),
    titleOf: among(titles),
    label,
    filter: (text) => (filter(text) === text ? label(text) : filter(text)),
    code: among(codes),
    sentence(text, print) {
      const plain = text.replace(instants, print).replace(ids, '')
      if (language === 'en') return plain
      return plain
        .split(/(?<=\.) (?=[A-Z0-9])/)
        .map(inGerman)
        .join(' ')
    },
    day: (instant, zone) =>
      new Intl.DateTimeFormat(dayLocales[language], { dateStyle: 'long', timeZone: zone }).format(instant),
  }
}

/** Returns the German sentence, or the sentence itself if it is unknown. */
function inGerman(sentence: string): string {
  const known = sentences.find(([pattern]) => pattern.test(sentence))
  return known === undefined ? sentence : sentence.replace(...known)
}

const dayLocales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' }
