import { type I18n, type Messages, setupI18n } from '@lingui/core'
import { type CompiledMessage, compileMessage } from '@lingui/message-utils/compileMessage'

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages | 'pseudo'

const i18n: I18n = setupI18n({ locale: 'en', messages: { en: {} } })
const compiled = new Map<string, CompiledMessage>()
i18n.setMessagesCompiler((text) => {
  // Most texts have no values and need not be compiled.
  if (!/[{'<]/.test(text)) return [text]
  const known = compiled.get(text) ?? compileMessage(text)
  compiled.set(text, known)
  return known
})

/**
 * Returns a text of the console in the language of the reader. The English text in the code is the key; `languages/de/`
 * has its translation. Values have names: `t('{count, plural, one {# vote} other {# votes}}', { count })`. Call it
 * while a page is drawn and never when a module is loaded, because the language may be unknown then.
 */
export function t(text: string, values?: Record<string, unknown>): string {
  return i18n._(text, values)
}

let serviceText: (text: string, reason?: string | null) => string = (text) => text

/** Ids of the service, which say nothing to people. */
const ids = /\bc[a-z0-9]{24}\b/g

/**
 * Translates a text of the service, which speaks English, into the language of the reader as far as the text is known.
 */
export function said(text: string, reason?: string | null): string {
  return serviceText(text, reason).replace(ids, '…')
}

export function languageNow(): Language {
  return i18n.locale as Language
}

/** Returns the locale for numbers and dates: the browser's locale if it has the language of the console. */
export function localeNow(): string {
  const language = i18n.locale === 'pseudo' ? 'en' : i18n.locale
  return navigator.languages.find((locale) => locale.toLowerCase().startsWith(language)) ?? language
}

const storageKey = 'strongroom.language'

/** Loads the language that the reader chose, or the first language of the browser that the console speaks. */
export async function loadLanguage(): Promise<void> {
  const language = chosenLanguage()
  document.documentElement.lang = language === 'pseudo' ? 'en' : language
  if (language === 'en') return
  for (const loaded of await textsOf(language)) {
    serviceText = loaded.serviceText ?? serviceText
    i18n.load(language, loaded.messages)
  }
  i18n.activate(language)
}

/** Stores the language and loads the page again, so that no text of the old language stays. */
export function chooseLanguage(language: Language): void {
  localStorage.setItem(storageKey, language)
  window.location.reload()
}

function chosenLanguage(): Language {
  const stored = localStorage.getItem(storageKey)
  if (stored === 'pseudo' || (stored !== null && stored in languages)) return stored as Language
  const spoken = navigator.languages.map((locale) => locale.slice(0, 2).toLowerCase())
  return (spoken.find((candidate) => candidate in languages) ?? 'en') as Language
}

type Texts = { messages: Messages; serviceText?: typeof serviceText }

async function textsOf(language: Language): Promise<Texts[]> {
  if (language === 'pseudo') return [await import('../languages/pseudo.ts')]
  return Promise.all([import('../languages/de.ts'), import('../languages/de-more.ts')])
}
