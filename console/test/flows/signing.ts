import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { until } from '../../../demo/src/testing/demo.ts'
import { windowOf } from '../support/signing-window.ts'
import { type Keeper, reserveCode, type Stack } from '../support/stack.ts'
import { watchPage } from '../support/watched-page.ts'

export function signingFlows(stack: () => Stack): void {
  describe('a payment of a protected vault', () => {
    it('T58 is signed by an order and two votes in browsers, verified by the wallet service and mined', async () => {
      const recipient = `0x${randomBytes(20).toString('hex')}`
      const { items } = await (await stack().client('anna')).vault(reserveCode).addresses.list().page()
      const anna = await pageOf('anna')
      await anna.page.goto(`${stack().url}/v/${reserveCode}/send`)
      await anna.page.getByRole('combobox', { name: 'From' }).fill(items[0]!.address)
      await anna.page.getByRole('listbox').getByRole('option').first().click()
      await anna.page.getByRole('combobox', { name: 'To', exact: true }).fill(recipient)
      await anna.page.getByLabel('Amount in ETH').fill('0.02')
      await anna.page.getByRole('button', { name: 'Send …' }).click()
      await anna.page.getByText('You sign exactly this with a passkey.').waitFor()
      await signElsewhere(anna.page, 'anna', recipient)
      await anna.page.getByRole('link', { name: 'Follow the transfer' }).click()
      await anna.page.waitForURL('**/transfers/*')
      const id = anna.page.url().split('/').at(-1)!

      for (const name of ['ben', 'david'] as const) {
        const voter = await pageOf(name)
        await voter.page.goto(`${stack().url}/v/${reserveCode}/approvals/transfer/${id}`)
        await voter.page.getByRole('button', { name: 'Approve' }).click()
        await signElsewhere(voter.page, name, recipient)
        await voter.page.getByText('You approved this.').waitFor()
        // The console first sends the vote without a signature: the answer says whether the vault is protected.
        expect(voter.faults.filter((fault) => !/ 403 .*\/approve$/.test(fault))).toEqual([])
        await voter.page.context().close()
      }

      await anna.page.getByText('Confirmed').first().waitFor()
      await until(
        async () => BigInt(String(await stack().chain('eth_getBalance', recipient, 'latest'))) === 2n * 10n ** 16n,
      )
      expect(anna.faults).toEqual([])
      await anna.page.context().close()
    })
  })

  const pageOf = async (name: Keeper) => watchPage(await stack().contextOf(name), stack().url)

  /**
   * Confirms, and gives the signature in the window that opens: the page of the wallet service, whose keys the
   * authority names.
   */
  async function signElsewhere(page: Page, name: Keeper, recipient: string): Promise<void> {
    const popup = await windowOf(stack(), page, name, () =>
      page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click(),
    )
    await popup.getByLabel('type its last four characters').fill(recipient.slice(-4))
    await popup.getByRole('button', { name: /^Sign the / }).click()
  }
}
