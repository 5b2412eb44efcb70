import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isLoopback } from './loopback.ts'

/** A witness that keeps the heads of the seal chains: a file, a mailbox or a service. `target` is the setting that names it. */
export type Witness =
  | { kind: 'file'; target: string; path: string }
  | { kind: 'mailto'; target: string; address: string }
  | { kind: 'https'; target: string; url: string }

/** Reads an item of WITNESSES. Returns the text of a fault, which follows the name of the setting. */
export function parseWitness(target: string, { demo }: { demo: boolean }): Witness | string {
  if (!URL.canParse(target)) return `must be URLs separated by commas, not "${target}"`
  const url = new URL(target)
  const decoded = decode(url.pathname)
  // An encoded slash would name another file.
  if (decoded === null || /%2f|%00/i.test(url.pathname)) return `holds a "%" that encodes no letter: "${target}"`
  switch (url.protocol) {
    case 'file:': {
      // A host in the URL would name a share that Node does not open.
      const path = url.host === '' && isAbsolute(url.pathname) ? fileURLToPath(url) : null
      if (path === null || path.endsWith('/'))
        return 'names a file by its absolute path, such as file:/mnt/witness/heads'
      return { kind: 'file', target, path }
    }
    case 'mailto:': {
      const isAddress = /^[^\s@,<>]+@[^\s@,<>]+$/.test(decoded) && url.search === ''
      return isAddress
        ? { kind: 'mailto', target, address: decoded }
        : 'names one mailbox, such as mailto:auditor@example.org'
    }
    case 'https:':
    case 'http:':
      if (url.username !== '' || url.password !== '') return 'must not hold credentials; use WITNESS_SECRET'
      if (url.protocol === 'http:' && !demo && !isLoopback(url.hostname))
        return 'must use https, or http to this machine'
      return { kind: 'https', target, url: target }
    default:
      return `must begin with file:, mailto: or https://, unlike "${target}"`
  }
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
