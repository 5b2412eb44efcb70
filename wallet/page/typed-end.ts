import { element } from './elements.ts'

const length = 4

/** A field into which a person types the end of a recipient that no list knows, from wherever they know it. */
export interface TypedEnd {
  field: HTMLElement
  isRight(): boolean
}

export function typedEndOf(address: string, onInput: () => void): TypedEnd {
  const input = element('input', { maxLength: length, autocomplete: 'off', spellcheck: false, oninput: onInput })
  input.setAttribute('autocapitalize', 'off')
  const label = 'The recipient is on no signed list: type its last four characters, from where you know it'
  return {
    field: element('label', {}, label, input),
    isRight: () => input.value.toLowerCase() === address.slice(-length).toLowerCase(),
  }
}
