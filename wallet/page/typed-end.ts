import { element } from './elements.ts'

const length = 4

/** A field into which a person types the end of a recipient that no list knows, from wherever they know it. */
export interface TypedEnd {
  field: HTMLElement
  isRight(): boolean
}

export interface Unlisted {
  recipient: string
  /** The name of the recipient in a sentence. */
  which: string
}

export function typedEndOf({ recipient, which }: Unlisted, onInput: () => void): TypedEnd {
  const input = element('input', { maxLength: length, autocomplete: 'off', spellcheck: false, oninput: onInput })
  input.setAttribute('autocapitalize', 'off')
  const label = `${which} on no signed list: type its last four characters, from where you know it`
  return {
    field: element('label', {}, label, input),
    isRight: () => input.value.toLowerCase() === recipient.slice(-length).toLowerCase(),
  }
}
