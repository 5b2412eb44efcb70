// Which files and answers each page needs before it can be drawn, so that the service can name them in the head of the page: the
// browser would learn of each only when the script before it has run.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstRequests } from '../first-requests.js'

/**
 * @param {string} root the folder of the workspace, with what Vite built in `dist`
 * @returns {{ path: string, scripts: string[], requests: string[] }[]} by path as in "/v/$code/send", where "$code" stands for any
 *   segment; the first that fits a page is meant
 */
export function findPreloads(root) {
  const manifest = JSON.parse(readFileSync(join(root, 'dist/.vite/manifest.json'), 'utf8'))
  const names = readdirSync(join(root, 'src/routes')).map((file) => file.replace(/\.tsx$/, ''))
  const parentsOf = (name) => names.filter((other) => name.startsWith(`${other}.`))
  const frames = new Set(names.flatMap(parentsOf))
  const atOnce = loadedBy(Object.keys(manifest).find((key) => manifest[key].isEntry))

  function loadedBy(key, found = new Set()) {
    if (found.has(key) || !(key in manifest)) return found
    found.add(key)
    for (const imported of manifest[key].imports ?? []) loadedBy(imported, found)
    return found
  }
  function scriptsOf(name) {
    const keys = [...parentsOf(name), name].flatMap((each) => [
      ...loadedBy(`src/routes/${each}.tsx?tsr-split=component`),
    ])
    return [...new Set(keys)].filter((key) => !atOnce.has(key)).map((key) => `/${manifest[key].file}`)
  }

  return (
    names
      .filter((name) => name !== '__root' && !name.startsWith('-') && !frames.has(name))
      // "new" comes before "$id".
      .toSorted((a, b) => (a.replaceAll('$', '~') < b.replaceAll('$', '~') ? -1 : 1))
      .map((name) => ({ name, path: pathOf(name) }))
      .map(({ name, path }) => ({
        path,
        scripts: scriptsOf(name),
        requests: requestsOf(path),
      }))
  )
}

/** "v.$code.address-book.index" is "/v/$code/address-book/", and "me_.sessions" is "/me/sessions". */
function pathOf(name) {
  const segments = name.split('.').map((segment) => segment.replace(/_$/, ''))
  return `/${segments.join('/')}`.replace(/\/index$/, '/')
}

function requestsOf(path) {
  const isPart = (other) => path === other || path.startsWith(`${other}/`)
  return Object.entries(firstRequests)
    .filter(([other]) => isPart(other))
    .flatMap(([, requests]) => requests.map((request) => `/api/v1${request}`))
}
