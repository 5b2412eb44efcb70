import type { SignedVote } from '../../sdk/src/signing/signing.ts'
import type { Brought } from './bring.ts'
import { element } from './elements.ts'
import { consoleOrigin } from './place.ts'

/** Time to read that the wallet service has the vote, before the console closes the window. */
const readMilliseconds = 2_000

/**
 * Shows the answer of the wallet service, if it received the signature, and hands the signature to the window that opened this page.
 * The browser hands it to a page of the console only.
 */
export async function handBack(signed: SignedVote, brought: Brought | null, note: HTMLElement): Promise<void> {
  note.textContent = brought === null ? '' : `${brought.sentence} `
  if (window.opener === null) {
    note.append('Signed. No console opened this page, so take the signed vote from here:')
    const value = JSON.stringify(signed, null, 2)
    note.after(element('textarea', { readOnly: true, rows: 12, value, ariaLabel: 'Signed vote' }))
    return
  }
  if (brought !== null) await untilRead(brought, note)
  window.opener.postMessage({ type: 'strongroom-signed', signed }, consoleOrigin)
  note.append(`Signed. ${consoleOrigin} has the signature if it opened this page. You can close this window.`)
  window.close()
}

/** Waits until a person has read the answer. A signature that the wallet service did not take reaches it only by the console. */
function untilRead({ isTaken }: Brought, note: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    if (isTaken) setTimeout(resolve, readMilliseconds)
    else note.append(element('button', { textContent: 'Hand it to the console', onclick: () => resolve() }))
  })
}
