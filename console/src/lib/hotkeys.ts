import { useHotkeys } from 'react-hotkeys-hook'

/**
 * A key that clicks what carries `data-hotkey`: in the row that has the focus, otherwise the only one of the page. In a
 * list without a focused row it does nothing, because no row is meant.
 */
export function useClickKey(key: string): void {
  useHotkeys(key, () => {
    const selector = `[data-hotkey="${key}"]`
    const row = document.activeElement?.closest('tr')
    const found = (row ?? document).querySelectorAll<HTMLElement>(selector)
    if (found.length === 1) found[0]!.click()
  })
}
