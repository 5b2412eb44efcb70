export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'strongroom.theme'

export function themeNow(): Theme {
  const stored = localStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Stores the theme in this browser. "system" follows the device. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  applyTheme()
}

export function applyTheme(): void {
  const theme = themeNow()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
