import { watchAttention } from './attention.ts'
import { element } from './elements.ts'
import { windowEnd } from './one-request.ts'
import { typedEndOf, type Unlisted } from './typed-end.ts'

const waiting = 'The button works once this window has been in front of you for two seconds.'
const untyped = 'Type what is asked for above.'

interface Question {
  /** The text of the button. */
  action: string
  /** Recipients whose ends must be typed. */
  unlisted: Unlisted[]
  /** The reason for which nothing can be signed, or null. */
  obstacle: string | null
  /** Signs, and says afterwards where the signature is, in the note. */
  sign(note: HTMLElement): Promise<void>
}

/** The button by which a person signs, with what it waits for. */
export function askConsent({ action, unlisted, obstacle, sign }: Question): HTMLElement[] {
  let isBusy = false
  const button = element('button', { textContent: action, disabled: true })
  const cancel = element('button', { textContent: 'Close', className: 'plain', onclick: () => window.close() })
  const hint = element('p', { id: 'hint', className: 'hint' })
  const note = element('p', { role: 'status' })
  const buttons = element('p', {}, button, cancel)
  button.setAttribute('aria-describedby', hint.id)

  const obstacleNow = (): string | null => {
    if (obstacle !== null) return obstacle
    if (!typed.every((end) => end.isRight())) return untyped
    return attention.isEnough() ? null : waiting
  }
  const update = (): void => {
    const reason = obstacleNow()
    button.disabled = isBusy || reason !== null
    // A lasting obstacle is said above.
    hint.textContent = isBusy || obstacle !== null ? '' : (reason ?? '')
  }
  const typed = unlisted.map((address) => typedEndOf(address, update))
  const attention = watchAttention(update, windowEnd)
  button.onclick = async () => {
    if (isBusy || obstacleNow() !== null) return update()
    isBusy = true
    update()
    try {
      await sign(note)
      for (const part of [buttons, hint, ...typed.map(({ field }) => field)]) part.remove()
    } catch (error) {
      if (!windowEnd.aborted) note.textContent = `Nothing was signed: ${(error as Error).message}`
    }
    isBusy = false
    attention.restart()
    update()
  }
  update()
  return [...typed.map(({ field }) => field), hint, buttons, note]
}
