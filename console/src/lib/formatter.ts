import { localeNow } from './language.ts'

type Constructor<Options, Format> = new (locale: string, options?: Options) => Format

const made = new Map<string, unknown>()

/**
 * Returns a formatter of the browser for the reader's locale: `formatter(Intl.NumberFormat, { style: 'percent' })`.
 * Formatters are cached, because making one takes far longer than using it, and a list uses several for each row.
 */
export function formatter<Options, Format>(Kind: Constructor<Options, Format>, options?: Options): Format {
  const locale = localeNow()
  const key = `${Kind.name} ${locale} ${JSON.stringify(options)}`
  if (!made.has(key)) made.set(key, new Kind(locale, options))
  return made.get(key) as Format
}
