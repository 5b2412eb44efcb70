/**
 * Whether a path leads to a page of our own origin: it begins with one slash, holds no backslash (which browsers read as
 * a slash) and only visible ASCII, so that no browser takes a part of it for a host.
 */
export function isOwnPath(path: string): boolean {
  if (!/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path)) return false
  const base = 'http://own.invalid'
  return URL.canParse(path, base) && new URL(path, base).origin === base
}
