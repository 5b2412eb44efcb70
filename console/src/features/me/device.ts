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

/** "Firefox · Windows", as far as a User-Agent says it. The first word of a program that is no browser; null of nothing. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null || userAgent.trim() === '') return null
  const named = [browsers, systems].map((list) => list.find(([pattern]) => pattern.test(userAgent))?.[1])
  const known = named.filter((each) => each !== undefined)
  return known.length > 0 ? known.join(' · ') : (userAgent.trim().split(/[/\s]/)[0] ?? null)
}
