/** Only `textContent` and properties of elements are ever written: nothing that is handed to the page becomes markup. */

export const main = document.getElementById('main') as HTMLElement

type Child = Node | string

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

export const paragraph = (textContent: string) => element('p', { textContent })
export const warning = (textContent: string) => element('p', { className: 'warn', textContent })

/** A term and what is said of it, for a list of facts. */
export const fact = (term: string, content: Child, className = ''): HTMLElement[] => [
  element('dt', { textContent: term }),
  element('dd', { className }, content),
]

/** In groups of four, as people compare it; copied, it has no gaps. */
export function grouped(text: string): HTMLElement {
  const groups = text.match(/0x|.{1,4}/g) ?? []
  return element('code', {}, ...groups.map((textContent) => element('span', { textContent })))
}

/** Replaces the page by why nothing is signed. */
export function refuse(text: string): void {
  main.replaceChildren(element('h1', { textContent: 'Nothing is signed' }), paragraph(text))
}
