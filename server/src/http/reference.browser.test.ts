import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { findChromium } from '../testing/find-chromium.ts'

type Violation = { id: string; nodes: { html: string; failureSummary?: string }[] }

let test: TestApp
let browser: Browser
let origin: string
let axe: string

beforeAll(async () => {
  test = await createTestApp()
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  origin = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`
  browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  })
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
})
afterAll(async () => {
  await browser?.close()
  await test?.close()
})

describe('the reference page', () => {
  it('finds operations by the words of path, summary and tag, and shows them at once', async () => {
    const page = await openPage({}, '/docs')
    expect(await page.locator('.opblock').count()).toBe(0)
    await page.getByLabel('Search the operations').fill('/transfers/{id}/approve transfers')
    await page.locator('.opblock-summary-path', { hasText: '/approve' }).first().waitFor()
    expect(await page.locator('.opblock-tag').count()).toBe(1)
    await page.getByLabel('Search the operations').fill('no such operation at all')
    await page.locator('.opblock').first().waitFor({ state: 'detached' })
    await page.context().close()
  })

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['dark', 390],
  ] as const)('has enough contrast in %s at %i pixels, with an operation open', async (colorScheme, width) => {
    const page = await openPage({ colorScheme, viewport: { width, height: 900 } }, '/docs/#/Transfers/createTransfer')
    await page.locator('.opblock.is-open .responses-table').first().waitFor()
    const background = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    expect(background === 'rgb(255, 255, 255)').toBe(colorScheme === 'light')
    await page.evaluate(axe)
    const violations = (await page.evaluate(
      "axe.run({ runOnly: ['color-contrast'] }).then(({ violations }) => violations)",
    )) as Violation[]
    expect(
      violations.flatMap(({ nodes }) => nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)),
    ).toEqual([])
    await page.context().close()
  })
})

async function openPage(options: Parameters<Browser['newContext']>[0], path: string): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage()
  await page.goto(`${origin}${path}`)
  await page.locator('.opblock-tag').first().waitFor()
  return page
}
