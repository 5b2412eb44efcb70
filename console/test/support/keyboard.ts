import type { Page } from 'playwright-core'

/** Presses Tab until an element has the focus, at most a hundred times. */
export async function tabTo(page: Page, isThere: string): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    if ((await page.evaluate(isThere)) === true) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab never reaches: ${isThere}`)
}
