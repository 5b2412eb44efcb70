import { isLoopback } from '../../../lib/loopback.ts'

/** A value for a placeholder. It has only characters that need no escaping in a URL. */
const standIn = 'strongroom-value'

/**
 * Returns the fault of a link template to a block explorer, or null. People follow these links from requests that they
 * are about to approve, so only the path, the query and the fragment may depend on the inserted value.
 *
 * @param isDemo true if an explorer on this machine may be reached over http
 */
export function faultOfExplorer(template: string, placeholder: string, { isDemo }: { isDemo: boolean }): string | null {
  const [before = '', after, ...others] = template.split(placeholder)
  if (after === undefined || others.length > 0) return `must contain ${placeholder} once`
  if (/[\s{}<>"'`\\^|]|[^\x21-\x7e]/.test(before + after)) return 'contains characters that a URL must not contain'
  if (!URL.canParse(template.replace(placeholder, standIn))) return 'is not a URL'
  const url = new URL(template.replace(placeholder, standIn))
  const isAllowed = url.protocol === 'https:' || (isDemo && url.protocol === 'http:' && isLoopback(url.hostname))
  if (!isAllowed) return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password'
  if (!(url.pathname + url.search + url.hash).includes(standIn)) return `must contain ${placeholder} after the host`
  return null
}
