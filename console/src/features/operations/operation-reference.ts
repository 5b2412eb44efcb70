import type { Operation } from './queries.ts'

/**
 * Reads a pasted reference to an operation: the URL of its page, or its type and id ("deposit cmi8…"). A bare id has
 * the type `kind`. Returns null for any other text, and for a page of another vault.
 */
export function readReference(text: string, code: string, kind: Operation['type']): Operation | null {
  const link = /\/v\/([^/]+)\/(transfers|deposits)\/([a-z0-9]{20,40})(?:[?#].*)?$/.exec(text.trim())
  if (link !== null) {
    const [, linked, kinds, id = ''] = link
    return linked === code ? { code, type: kinds === 'transfers' ? 'transfer' : 'deposit', id } : null
  }
  const words = /^(?:(transfer|deposit)\s+)?([a-z0-9]{20,40})$/.exec(text.trim())
  if (words === null) return null
  return { code, type: (words[1] as Operation['type'] | undefined) ?? kind, id: words[2] ?? '' }
}
