import { existsSync } from 'node:fs'

/** Returns the path of the browser that the tests drive: CHROMIUM_PATH, or the places where distributions install it. */
export function findChromium(): string {
  const candidates = [
    process.env.CHROMIUM_PATH,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ]
  const found = candidates.find((path) => path !== undefined && existsSync(path))
  if (found === undefined) {
    throw new Error('The browser tests need Chromium: apt-get install chromium, or set CHROMIUM_PATH to a browser.')
  }
  return found
}
