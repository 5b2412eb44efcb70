import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { operationsOf, orderTransfer, stranger } from '../support/orders.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { watchPage } from '../support/watched-page.ts'

const isWhole = process.env.CONSOLE_LOOKS === 'all'

/** A number of a report with the place that it leads to. */
type Figure = { count: number; href: string }

export function figureFlows(stack: () => Stack): void {
  describe('a figure', () => {
    it('of every report leads to exactly the operations that it counts', async () => {
      const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
      await operate(stack())
      const wrong: string[] = []
      let followed = 0
      /** The number of operations behind each link that was followed. */
      const known = new Map<string, number>()
      for (const [turn, { report, isFiltered }] of (await reportsOf(stack())).entries()) {
        await page.goto(`${stack().url}/v/${vaultCode}/reports/${report}`)
        const shown = page
          .getByRole('heading', { name: 'Data quality' })
          .or(page.locator(`main table, main ${operations.join(', main ')}`))
        await shown.first().waitFor()
        const figures = (await figuresOf(page)).filter((_, at) => isWhole || !isFiltered || (at + turn) % 3 === 0)
        for (const { count, href } of figures) {
          const listed = known.get(href) ?? (await operationsAt(page, stack().url, href))
          known.set(href, listed)
          if (listed !== count) wrong.push(`${report}: ${count} leads to ${listed} at ${href}`)
        }
        followed += figures.length
      }
      expect(wrong).toEqual([])
      expect(followed).toBeGreaterThan(20)
      expect(faults).toEqual([])
      await page.context().close()
    }, 600_000)
  })
}

/** Orders three payments (the first is confirmed, the second waits, the third is cancelled) and a payout of two rows that wait. */
async function operate(stack: Stack): Promise<void> {
  const paid = await orderTransfer(stack, '7')
  await orderTransfer(stack, '140')
  const { id } = await orderTransfer(stack, '160')
  const { transfers, payouts } = (await stack.client('treasurer')).vault(vaultCode)
  await transfers.cancel(id)
  const fromAddressId = (await operationsOf(stack)).id
  const rows = ['3', '150'].map((amount, row) => {
    return { fromAddressId, toAddress: stranger, token: 'TUSD', amount, externalId: `figure-${Date.now()}-${row}` }
  })
  expect((await payouts.create({ rows })).status).toBe('awaiting_approval')
  // The network fee of a payment is booked when the payment is confirmed.
  await vi.waitFor(async () => expect((await paid.read()).status).toBe('confirmed'), { timeout: 60_000, interval: 500 })
}

/** The links to operations. */
const operations = [
  'a[href*="/activity?"]',
  'a[href*="/reports/operations?"]',
  'a[href*="/reports/operations_exceptions?"]',
]

/**
 * Every report, with a subject where it needs one. With a filter a report shows the figures that it shows without it: in the suite a
 * third of them is followed under each filter, the next third under the next, and all in `npm run nightly:console`.
 */
async function reportsOf(stack: Stack): Promise<{ report: string; isFiltered: boolean }[]> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { items } = await vault.counterparties.list({ limit: 1 }).page()
  const { id: addressId } = await operationsOf(stack)
  const plain = [
    'transaction_activity',
    'asset_movement',
    'operations',
    'operations_exceptions',
    'approval_activity',
    'fees',
  ]
  const filtered = [
    'statuses=confirmed',
    'statuses=failed,rejected,cancelled',
    'includeInternal=false',
    'groupBy=week',
    'dateBasis=confirmedAt',
    'minimumAmount=100',
    'counterpartyClassification=historical',
  ]
  const ofFees = ['dateBasis=createdAt', 'groupBy=week', 'feeKinds=payment']
  const whole = [
    ...plain.map((type) => `${type}?period=last30`),
    `address_activity?period=last30&addressId=${addressId}`,
    ...items.map(({ id }) => `counterparty_activity?period=last30&counterpartyId=${id}`),
  ]
  const narrow = [
    ...filtered.map((filter) => `transaction_activity?period=last30&${filter}`),
    ...ofFees.map((filter) => `fees?period=last30&${filter}`),
  ]
  return [
    ...whole.map((report) => ({ report, isFiltered: false })),
    ...narrow.map((report) => ({ report, isFiltered: true })),
  ]
}

/** Returns the counts of the page that link to operations, including the counts of missing data. */
async function figuresOf(page: Page): Promise<Figure[]> {
  const links = await page.locator(operations.map((link) => `main ${link}`).join(', ')).all()
  const counts = await Promise.all(
    links.map(async (link) => ({ text: (await link.textContent())!, href: (await link.getAttribute('href'))! })),
  )
  const gaps = await page.locator('main li:has(a[href*="operations_exceptions"])').all()
  const missing = await Promise.all(
    gaps.map(async (gap) => ({
      text: (await gap.locator('.figures').textContent())!,
      href: (await gap.locator('a').getAttribute('href'))!,
    })),
  )
  return [...counts, ...missing].flatMap(({ text, href }) => {
    const number = /^[\d,]+$/.exec(text.trim())
    return number === null ? [] : [{ count: Number(number[0].replaceAll(',', '')), href }]
  })
}

/**
 * Follows a link, and returns the number of operations that the opened page receives. All of them must fit on one page
 * of the list.
 */
async function operationsAt(page: Page, origin: string, href: string): Promise<number> {
  const { pathname: target } = new URL(href, origin)
  const list = target.endsWith('/activity') ? 'history' : target.replace(/^.*\/(reports\/)/, '$1')
  // The page before may still ask for its own list. This document asks for nothing, and its origin lets the browser keep the process.
  await page.goto(`${origin}/healthz`)
  const answer = page.waitForResponse((response) => {
    const { pathname } = new URL(response.url())
    return pathname.startsWith('/api/') && pathname.endsWith(`/${list}`)
  })
  await page.goto(origin + href)
  const response = await answer
  const { items, nextCursor } = await response.json()
  expect(nextCursor ?? null, `${href} has more than one page`).toBeNull()
  return items.length
}
