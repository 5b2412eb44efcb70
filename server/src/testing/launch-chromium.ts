import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const args = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-sync', '--disable-background-networking', '--disable-component-update'],
]

/** Starts the browser that the tests drive. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args })
}

/** Returns the path of the browser: CHROMIUM_PATH, or the places where distributions install it. */
function findChromium(): string {
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
