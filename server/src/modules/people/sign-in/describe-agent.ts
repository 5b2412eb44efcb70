/** The first match is used, because most browsers name other browsers as well. */
const browsers: [name: string, version: RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d{1,4})/],
  ['Opera', /\bOPR\/(\d{1,4})/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d{1,4})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /\bVersion\/(\d{1,4}).*\bSafari\//],
]

const systems: [name: string, mark: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

/** A User-Agent header for people, such as `Firefox 128 on Linux` or `curl/8.5.0`, without any free text of the header. */
export function describeAgent(userAgent: string | null): string {
  const text = userAgent ?? ''
  const system = systems.find(([, mark]) => mark.test(text))?.[0]
  for (const [name, pattern] of browsers) {
    const version = pattern.exec(text)?.[1]
    if (version !== undefined) return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`
  }
  // A product and its version (RFC 9110, 10.1.5), without dots in the name: mail programs make links of host names.
  return /^[A-Za-z][\w-]{0,39}(?:\/\d[\w.-]{0,19})?(?=$|[\s(])/.exec(text)?.[0] ?? 'an unknown program'
}
