/** Which methods each path knows, so that a wrong method is a 405 that names the right ones, not a 404. */
export class MethodTable {
  readonly #methodsByUrl = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  add(url: string, method: string | string[]): void {
    const entry = this.#methodsByUrl.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() }
    for (const name of [method].flat()) entry.methods.add(name)
    this.#methodsByUrl.set(url, entry)
  }

  allowedFor(url: string): string[] {
    const path = url.split('?')[0] ?? ''
    const allowed = new Set<string>()
    for (const { pattern, methods } of this.#methodsByUrl.values()) {
      if (pattern.test(path)) for (const method of methods) allowed.add(method)
    }
    return [...allowed].sort()
  }
}

function toPattern(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('/')
  return new RegExp(`^${source}$`)
}
