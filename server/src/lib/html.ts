/** A piece of HTML whose text is already escaped. */
export type Html = { readonly html: string }
type Value = string | Html | Html[]

/** Builds HTML from a template: strings are escaped, and pieces made by this function are inserted as they are. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return { html: parts.reduce((text, part, index) => text + toText(values[index - 1]!) + part) }
}

function toText(value: Value): string {
  if (typeof value === 'string') return escapeHtml(value)
  if (Array.isArray(value)) return value.map((piece) => piece.html).join('')
  return value.html
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!)
}
