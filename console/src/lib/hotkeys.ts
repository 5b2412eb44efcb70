import { type HotkeyCallback, type Options, useHotkeys } from 'react-hotkeys-hook'

/** Listens to keys like `useHotkeys`, except while a dialog or a popover is open, which has its own keys. */
export function useKeys(
  keys: string | readonly string[],
  callback: HotkeyCallback,
  options: Options = {},
  dependencies: unknown[] = [],
): void {
  const unlessCovered: HotkeyCallback = (event, handler) => {
    if (document.querySelector('dialog[open], :popover-open') === null) callback(event, handler)
  }
  useHotkeys(keys, unlessCovered, options, dependencies)
}

/**
 * Clicks the element with this `data-hotkey`: the element in the focused row, otherwise the only such element of the
 * page. In a list without a focused row, nothing happens.
 */
export function useClickKey(key: string): void {
  useKeys(key, () => {
    const selector = `[data-hotkey="${key}"]`
    const row = document.activeElement?.closest('tr')
    const ofRow = row?.querySelectorAll<HTMLElement>(selector) ?? []
    const found = ofRow.length > 0 ? ofRow : document.querySelectorAll<HTMLElement>(selector)
    if (found.length === 1) found[0]!.click()
  })
}
