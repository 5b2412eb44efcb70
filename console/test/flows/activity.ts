import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { allowEntries } from '../support/address-book.ts'
import { operationsOf, orderTransfer } from '../support/orders.ts'
import { type Visit, visitsOf } from '../support/routes.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, overflowOf, settled, type WatchedPage, watchPage } from '../support/watched-page.ts'

const payee = `0x${'5e'.repeat(20)}`

export function activityFlows(stack: () => Stack): void {
  const open = async (path: string): Promise<WatchedPage> => {
    const watched = await watchPage(await stack().contextOf('treasurer'), stack().url)
    await watched.page.goto(`${stack().url}/v/${vaultCode}${path}`)
    return watched
  }
  const details = (page: Page) => page.getByRole('region', { name: 'Details' })

  describe('a treasurer at a desk', () => {
    it('opens an operation beside the list, which keeps its place, and hands the view on', async () => {
      const { id } = await orderTransfer(stack(), '150')
      const { page, faults } = await open('/activity')
      await page.setViewportSize({ width: 1_440, height: 900 })
      const link = page.locator(`tbody a[href$="/transfers/${id}"]`)
      await link.click()
      await details(page)
        .getByRole('heading', { level: 2, name: /^Transfer/ })
        .waitFor()
      await settled(page)
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Details')
      await link.waitFor()
      expect(new URL(page.url()).searchParams.get('open')).toBe(`transfer-${id}`)
      expect([await axeViolations(page), await overflowOf(page)]).toEqual([[], 0])

      await page.keyboard.press('Escape')
      await details(page).waitFor({ state: 'detached' })
      expect(new URL(page.url()).search).toBe('')
      // The focus is back on the row.
      await page.keyboard.press('Enter')
      await details(page).waitFor()
      await page.getByLabel('Status').selectOption({ label: 'Waits for votes' })
      await page.waitForURL('**/activity?*statuses=awaiting_approval*')
      await page.reload()
      await details(page).waitFor()

      // Where there is no room beside the list, the same view is the page of the operation.
      await page.setViewportSize({ width: 1_200, height: 900 })
      await page.waitForURL(`**/transfers/${id}`)
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('works by keys, and sees which there are', async () => {
      const { page, faults } = await open('/activity?utm_source=mail&direction=up')
      await settled(page)
      expect(new URL(page.url()).search).toBe('')
      await page.keyboard.press('?')
      const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await keys.getByText('Next row').waitFor()
      // The keys of the page do nothing while the dialog is open.
      await page.keyboard.press('n')
      expect(new URL(page.url()).pathname).toBe(`/v/${vaultCode}/activity`)
      expect(await axeViolations(page)).toEqual([])
      await page.keyboard.press('Escape')
      await keys.waitFor({ state: 'detached' })
      await page.keyboard.press('n')
      await page.waitForURL('**/send')
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('reads on the page of an address and of a counterparty the sums of a year, which lead to their operations', () =>
      readSums(stack(), open))

    it('sends no request twice: the head of a page announces exactly the requests of the page', () => asksOnce(stack()))
  })
}

async function readSums(stack: Stack, open: (path: string) => Promise<WatchedPage>): Promise<void> {
  const { vault, subjects } = await subjectsOf(stack)
  for (const { path, filter } of subjects) {
    const { page, faults } = await open(path)
    const sums = page.getByLabel('Last 12 months')
    const sent = sums
      .getByRole('definition')
      .filter({ has: page.getByRole('link') })
      .first()
    const { items } = await vault.history
      .list({ ...filter, direction: 'out', statuses: ['confirmed'], limit: 100 })
      .page()
    const word = ['never', 'once'][items.length] ?? `${items.length} times`
    await sent.getByText(word, { exact: true }).waitFor()
    expect([await axeViolations(page), await overflowOf(page)]).toEqual([[], 0])
    await sent.getByRole('link').click()
    await page.waitForURL('**/activity?*direction=out*')
    await expect.poll(() => page.locator('tbody a[href*="/transfers/"]').count()).toBe(items.length)
    expect(faults).toEqual([])
    await page.context().close()
  }
}

/** An address that has paid, and a counterparty whom it has paid: the pages of both, and their filters of operations. */
async function subjectsOf(stack: Stack) {
  const vault = (await stack.client('treasurer')).vault(vaultCode)
  const { id: addressId } = await operationsOf(stack)
  await allowEntries(stack)
  const { value } = await (await stack.client('admin')).vault(vaultCode).counterparties.create({
    name: 'Payee of a year',
    kind: 'company',
    addresses: [{ network: 'ethereum', address: payee }],
  })
  const { read } = await orderTransfer(stack, '8', { toAddress: payee })
  await expect.poll(async () => (await read()).status).toBe('confirmed')
  const counterpartyId = value!.id
  const subjects = [
    { path: `/addresses/${addressId}`, filter: { addressId } },
    { path: `/address-book/${counterpartyId}`, filter: { counterpartyId } },
  ]
  return { vault, subjects }
}

async function asksOnce(stack: Stack): Promise<void> {
  const announcing = [
    'v.$code.index',
    ...['transfer', 'request', 'payout'].map((kind) => `v.$code.approvals.${kind}.$id`),
  ]
  const visits = await visitsOf(stack)
  const first = announcing.map((route) => visits.find((visit) => visit.route === route)!)
  await Promise.all(first.map((visit) => asksOnceOn(stack, visit)))
}

async function asksOnceOn(stack: Stack, { path, person }: Visit): Promise<void> {
  const context = await stack.contextOf(person)
  const page = await context.newPage()
  const requestedUrls: string[] = []
  const warnings: string[] = []
  page.on('request', (request) => requestedUrls.push(request.url().replace(stack.url, '')))
  page.on('console', (message) => warnings.push(message.text()))
  const answer = await page.goto(stack.url + path)
  const announced = [...answer!.headers().link!.matchAll(/<([^>]+)>/g)].map(([, url]) => url!)
  expect(announced.filter((url) => url.startsWith('/api/')).length).toBeGreaterThan(1)
  expect(announced.filter((url) => url.endsWith('.js')).length).toBeGreaterThan(1)
  await settled(page)
  const times = announced.map((url) => [url, requestedUrls.filter((requestedUrl) => requestedUrl === url).length])
  expect(times).toEqual(announced.map((url) => [url, 1]))
  // Chromium warns some seconds after a page was loaded of what was announced in vain.
  await page.waitForTimeout(4_000)
  expect(warnings.filter((warning) => warning.includes('preload'))).toEqual([])
  await context.close()
}
