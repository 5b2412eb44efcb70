/**
 * Returns true if every browser and library reads the path as a path of this origin: it begins with one slash, contains only
 * visible ASCII and no backslash (which browsers read as a slash), and stays the same path when it is normalised or decoded.
 */
export function isOwnPath(path: string): boolean {
  if (!/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path) || mayChange(path.split(/[?#]/)[0]!)) return false
  const base = 'http://own.invalid'
  return URL.canParse(path, base) && new URL(path, base).origin === base
}

/**
 * Returns true if normalising or decoding may change a path. `/..//evil.example.org` becomes `//evil.example.org` when
 * it is normalised, and so does each of its encodings when it is decoded.
 */
function mayChange(pathname: string): boolean {
  if (/%(?:25)*(?:2f|5c)/i.test(pathname)) return true
  const segments = pathname.replace(/%(?:25)*2e/gi, '.').split('/')
  return segments.some((segment) => segment === '.' || segment === '..')
}
