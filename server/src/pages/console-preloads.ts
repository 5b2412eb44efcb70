import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns the header `link` of a page: the files that the browser may load before a script asks for them. Empty for unknown
 * pages.
 */
export type Preloads = (url: string) => Promise<string>

type Page = { pattern: RegExp; scripts: string[]; requests: string[] }

/** @param folder the folder of the built console, whose build lists the files of its pages (console/scripts/preloads.js) */
export function createPreloads(folder: string): Preloads {
  let pages: Page[] | null = null
  return async (url) => {
    pages ??= await readPages(folder)
    const path = url.replace(/\?.*/, '')
    for (const { pattern, scripts, requests } of pages ?? []) {
      const match = pattern.exec(path)
      if (match === null) continue
      return [
        ...requests.map((request) => `<${withParams(request, match.groups)}>; rel=preload; as=fetch; crossorigin`),
        ...scripts.map((script) => `<${script}>; rel=modulepreload`),
      ].join(', ')
    }
    return ''
  }
}

/** Returns null while the console is still being built: `npm start` serves before it is ready. */
async function readPages(folder: string): Promise<Page[] | null> {
  const text = await readFile(join(folder, 'preloads.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const pages: (Omit<Page, 'pattern'> & { path: string })[] = JSON.parse(text)
  return pages.map(({ path, ...page }) => ({ ...page, pattern: patternOf(path) }))
}

/** Returns the pattern of a path. It matches only ids and codes, so that no other text of a caller gets into a header. */
function patternOf(path: string): RegExp {
  const named = path.replace(/\/$/, '').replace(/\$(\w+)/g, String.raw`(?<$1>[\w-]+)`)
  // A "$" at the end matches the rest of the path.
  return new RegExp(`^${named.replace(/\/\$$/, String.raw`(?:/[\w/-]*)?`)}/?$`)
}

function withParams(request: string, params: Record<string, string> | undefined): string {
  return request.replace(/\$(\w+)/g, (_, name) => params![name]!)
}
