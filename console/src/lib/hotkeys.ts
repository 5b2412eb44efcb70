import { type HotkeyCallback, type Options, useHotkeys } from 'react-hotkeys-hook'

/** As `useHotkeys`, but for the time in which a dialog or a popover is open: its keys are its own. */
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
 * A key that clicks what carries `data-hotkey`: in the row that has the focus, otherwise the only one of the page. In a
 * list without a focused row it does nothing, because no row is meant.
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
