import { describe, expect, it } from 'vitest'
import { addAuthenticator } from '../../../tests/setup/signing-window.ts'
import type { Stack } from '../support/stack.ts'
import { axeViolations, watchPage } from '../support/watched-page.ts'

export function passkeyFlows(stack: () => Stack): void {
  describe('a passkey', () => {
    it('is added, signs in without a mail, and confirms its own removal', async () => {
      const { page, faults } = await watchPage(await stack().contextOf('compliance'), stack().url)
      // The browser's own authenticator in software: real keys and signatures, with a finger that always agrees.
      await addAuthenticator(page)
      await page.goto(`${stack().url}/me`)
      await page.getByLabel('Name of the new passkey').fill('Desk computer')
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      const row = page.getByRole('row').filter({ hasText: 'Desk computer' })
      await row.getByText('Never').waitFor()
      // All of it, as people compare it on two screens.
      await row.getByText(/^([0-9a-f]{4} ){15}[0-9a-f]{4}$/).waitFor()
      expect(await axeViolations(page)).toEqual([])
      // The same authenticator has one already, and says so.
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByRole('alert').first().waitFor()

      await page.context().clearCookies()
      await page.goto(`${stack().url}/sign-in?redirectTo=%2Fme`)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.waitForURL('**/me')
      await page.getByRole('row').filter({ hasText: 'Desk computer' }).waitFor()
      expect(await page.getByRole('row').filter({ hasText: 'Desk computer' }).getByText('Never').count()).toBe(0)
      await page.getByRole('button', { name: 'Remove the passkey Desk computer' }).click()
      await page.getByText('You have no passkey yet.').waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })
  })
}
