const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const systems = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/**
 * Returns "Firefox · Windows", as far as the User-Agent says it. For a program that is not a browser, returns its first
 * word; for an empty text, null.
 */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null || userAgent.trim() === '') return null
  const named = [browsers, systems].map((list) => list.find(([pattern]) => pattern.test(userAgent))?.[1])
  const known = named.filter((word) => word !== undefined)
  return known.length > 0 ? known.join(' · ') : (userAgent.trim().split(/[/\s]/)[0] ?? null)
}
