import { sha256Hex } from './bytes.ts'
import { refuse } from './elements.ts'

/**
 * A window is for one request. Its opener may change its address at any time, also between the look of a person and their
 * click, so another request never takes the place of the first: the window signs nothing any more.
 */

const swapped =
  'Another order was put into this window. Close it, and begin again in the console. If this comes back, tell whoever runs the console.'
const gone = 'This window has already shown its order. Close it, and begin again in the console.'
const nothing = 'Nothing to sign: the console opens this page with an order.'

/** The fragment of the form that makes a passkey. */
export const registration = 'register'

/** Of this tab and origin; it outlives a reload and a visit to another page. */
const mark = 'strongroom-request'
const ended = new AbortController()

/** Ends with the window: no prompt of the browser goes on, and nothing is handed back. */
export const windowEnd: AbortSignal = ended.signal

/**
 * Takes the request out of the address line.
 * @returns the fragment; null when this window signs nothing, which it then says
 */
export async function takeRequest(): Promise<string | null> {
  const fragment = location.hash.slice(1)
  // An order is not for the history of the browser.
  history.replaceState(null, '', location.pathname)
  for (const event of ['hashchange', 'popstate']) addEventListener(event, () => endWindow(swapped))
  const known = sessionStorage.getItem(mark)
  if (fragment === '') return endWindow(known === null ? nothing : gone)
  // There is nothing to sign on the page that makes a passkey, and windows that a tab opens later get a copy of its storage.
  if (fragment === registration) return fragment
  const digest = await sha256Hex(new TextEncoder().encode(fragment))
  if (windowEnd.aborted) return null
  if (known !== null && known !== digest) return endWindow(swapped)
  sessionStorage.setItem(mark, digest)
  return fragment
}

function endWindow(reason: string): null {
  if (!windowEnd.aborted) {
    sessionStorage.setItem(mark, 'ended')
    ended.abort(new Error(reason))
    refuse(reason)
  }
  return null
}
