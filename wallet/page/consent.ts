import { watchAttention } from './attention.ts'
import { element } from './elements.ts'
import { windowEnd } from './one-request.ts'
import type { TypedEnd } from './typed-end.ts'

const waiting = 'The button works once this window has been in front of you for two seconds.'
const untyped = 'Type what is asked for above.'

export interface Consent {
  parts: HTMLElement[]
  /** What people are told beside the buttons. */
  note: HTMLElement
  /** What must be typed before anything is signed. The time of reading begins again. */
  demand(typed: (onInput: () => void) => TypedEnd[]): void
  /** Lets nothing be signed, for this reason. */
  forbid(reason: string): void
  /** Takes the buttons away. */
  close(): void
}

/** The button by which a person signs, and what it waits for. Until something is demanded of them, be it nothing, it is off. */
export function askConsent(action: string, sign: () => Promise<void>): Consent {
  let typed: TypedEnd[] | null = null
  let isBusy = false
  let forbidden: string | null = null
  const button = element('button', { textContent: action, disabled: true })
  const cancel = element('button', { textContent: 'Cancel', className: 'plain', onclick: () => window.close() })
  const hint = element('p', { id: 'hint', className: 'hint' })
  const note = element('p', { role: 'status' })
  const place = element('div')
  const buttons = element('p', {}, button, cancel)
  button.setAttribute('aria-describedby', hint.id)

  const obstacle = (): string | null => {
    if (forbidden !== null) return forbidden
    if (typed === null || !attention.isEnough()) return waiting
    return typed.every((end) => end.isRight()) ? null : untyped
  }
  const update = (): void => {
    const reason = obstacle()
    button.disabled = isBusy || reason !== null
    hint.textContent = isBusy ? '' : (reason ?? '')
  }
  const attention = watchAttention(update, windowEnd)
  button.onclick = async () => {
    if (isBusy || obstacle() !== null) return update()
    isBusy = true
    update()
    try {
      await sign()
    } catch (error) {
      if (!windowEnd.aborted) note.textContent = `Nothing was signed: ${(error as Error).message}`
    }
    isBusy = false
    attention.restart()
    update()
  }
  update()
  return {
    parts: [place, hint, buttons, note],
    note,
    demand: (make) => {
      typed = make(update)
      place.replaceChildren(...typed.map(({ field }) => field))
      attention.restart()
      update()
    },
    forbid: (reason) => {
      forbidden = reason
      update()
    },
    close: () => {
      buttons.remove()
      hint.remove()
    },
  }
}
