import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { operationsOf, stranger } from '../support/orders.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, isSo, watchPage } from '../support/watched-page.ts'

export function sendFlows(stack: () => Stack): void {
  describe('a payment', () => {
    it('is ordered with its decision in view, waits, is voted on and confirmed, and each page follows by itself', async () => {
      const { url } = stack()
      const { page, faults } = await watchPage(await stack().contextOf('treasurer'), url)
      await page.goto(`${url}/v/${vaultCode}/send`)
      await fillIn(page, '280')
      await page.getByText('Waits for votes').waitFor()
      await page.getByText('by the policy').waitFor()
      expect(await axeViolations(page)).toEqual([])
      await page.getByRole('button', { name: 'Send …' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
      await page.getByText('Ordered. It waits for votes.').waitFor()
      await page.getByRole('link', { name: 'Follow the transfer' }).click()
      await page.waitForURL('**/transfers/*')
      const id = page.url().split('/').at(-1)!
      await page.getByText('Waits for votes').first().waitFor()

      const seconds = await secondsToFollow(page, async () => {
        const { transfers } = (await stack().client('secondTreasurer')).vault(vaultCode)
        const { payloadHash } = await transfers.get(id)
        await transfers.approve(id, { payloadHash })
      })
      // A bound for a busy machine; on a quiet one it is well below the second that the design wants.
      expect(seconds).toBeLessThan(10)
      await page.getByText('Confirmed').first().waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('is received at an address that is shown whole, as text and as a QR code', async () => {
      const address = await operationsOf(stack())
      const { page, faults } = await watchPage(await stack().contextOf('treasurer'), stack().url)
      await page.goto(`${stack().url}/v/${vaultCode}/addresses/${address.id}`)
      await page.getByRole('img', { name: 'QR code of the address' }).waitFor()
      const shown = (await page.textContent('main'))!.replace(/\s/g, '')
      expect(shown).toContain(address.address)
      expect(faults).toEqual([])
      await page.context().close()
    })
  })
}

async function fillIn(page: Page, amount: string): Promise<void> {
  await page.getByRole('combobox', { name: 'From' }).fill('Operations')
  await page.getByRole('option', { name: /Operations/ }).click()
  await page.getByLabel('Token').selectOption({ label: 'TUSD' })
  await page.getByRole('combobox', { name: 'To', exact: true }).fill(stranger)
  await page.getByLabel('Amount in TUSD').fill(amount)
  await page.getByLabel('Purpose').fill('Rent of November')
}

/** The seconds until the page, without input, no longer says that the transfer waits. */
async function secondsToFollow(page: Page, vote: () => Promise<void>): Promise<number> {
  await vote()
  const before = performance.now()
  await isSo(page, `!document.querySelector('main').innerText.includes('Waits for votes')`)
  return (performance.now() - before) / 1_000
}
