import type { SignedVote } from '../../sdk/src/signing/signing.ts'
import { element } from './elements.ts'
import { consoleOrigin } from './place.ts'

/** To the window that opened this one, if it is a page of the console: the browser hands it to no other origin. */
export function handBack(signed: SignedVote, note: HTMLElement): void {
  if (window.opener === null) {
    note.textContent = 'Signed. No console opened this page, so take the signed vote from here:'
    const value = JSON.stringify(signed, null, 2)
    note.after(element('textarea', { readOnly: true, rows: 12, value, ariaLabel: 'Signed vote' }))
    return
  }
  window.opener.postMessage({ type: 'strongroom-signed', signed }, consoleOrigin)
  note.textContent = `Signed. ${consoleOrigin} has it if it opened this page. You can close this window.`
  window.close()
}
