import type { SignedVote } from '../../sdk/src/signing/signing.ts'
import type { Brought } from './bring.ts'
import { element } from './elements.ts'
import { consoleOrigin } from './place.ts'

/** Time to read that the wallet service has it: the console closes the window. */
const readMilliseconds = 2_000

/**
 * Says what the wallet service made of the signature, if it was brought there, and hands it to the window that opened this one, if
 * that is a page of the console: the browser hands it to no other origin.
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
  note.append(`Signed. ${consoleOrigin} has it if it opened this page. You can close this window.`)
  window.close()
}

/** A signature that the wallet service did not take depends on the console, which people must know. */
function untilRead({ isTaken }: Brought, note: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    if (isTaken) setTimeout(resolve, readMilliseconds)
    else note.append(element('button', { textContent: 'Hand it to the console', onclick: () => resolve() }))
  })
}
