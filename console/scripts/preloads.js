// Finds the files and answers that each page needs before it can be drawn. The service names them in the head of the
// page; without that, the browser would learn of each only after the previous script has run.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstRequests } from '../first-requests.js'

/**
 * @param {string} root the folder of the workspace, with the output of Vite in `dist`
 * @returns {{ path: string, scripts: string[], requests: string[] }[]} by path as in "/v/$code/send", where "$code"
 * stands for any segment; the first match of a page counts
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
    const keys = [...parentsOf(name), name].flatMap((routeName) => [
      ...loadedBy(`src/routes/${routeName}.tsx?tsr-split=component`),
    ])
    return [...new Set(keys)].filter((key) => !atOnce.has(key)).map((key) => `/${manifest[key].file}`)
  }

  return (
    names
      .filter((name) => name !== '__root' && !name.startsWith('-') && !frames.has(name))
      // Sorts "new" before "$id".
      .toSorted((a, b) => (a.replaceAll('$', '~') < b.replaceAll('$', '~') ? -1 : 1))
      .map((name) => ({ name, path: pathOf(name) }))
      .map(({ name, path }) => ({
        path,
        scripts: scriptsOf(name),
        requests: requestsOf(path),
      }))
  )
}

/** Maps "v.$code.address-book.index" to "/v/$code/address-book/", and "me_.sessions" to "/me/sessions". */
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
