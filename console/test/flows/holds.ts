import { describe, expect, it } from 'vitest'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, watchPage } from '../support/watched-page.ts'

export function holdFlows(stack: () => Stack): void {
  describe('a hold', () => {
    it('is placed by one person, and released by another one who votes', async () => {
      const { id, restore } = await prepared(stack())
      const admin = await watchPage(await stack().contextOf('admin'), stack().url)
      await admin.page.goto(`${stack().url}/v/${vaultCode}/address-book/${id}`)
      await admin.page.getByRole('button', { name: 'Place a hold' }).click()
      await admin.page.getByRole('dialog').getByLabel('Reason').fill('It is on a list of sanctions')
      expect(await axeViolations(admin.page)).toEqual([])
      await admin.page.getByRole('button', { name: 'Hold now' }).click()
      const banner = admin.page.getByRole('region', { name: 'Hold', exact: true })
      await banner.getByText('It is on a list of sanctions').waitFor()
      expect(await axeViolations(admin.page)).toEqual([])
      await banner.getByRole('button', { name: 'Release' }).click()
      await admin.page.getByRole('dialog').getByLabel('Reason').fill('It was another company of this name')
      await admin.page.getByRole('button', { name: 'Ask for the release' }).click()
      const path = await admin.page.getByRole('link', { name: 'See the request' }).getAttribute('href')

      const other = await watchPage(await stack().contextOf('compliance'), stack().url)
      await other.page.goto(`${stack().url}${path}`)
      await other.page.getByText('It was another company of this name').first().waitFor()
      await other.page.getByRole('button', { name: 'Approve' }).click()
      await other.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
      await other.page.getByText('You approved this.').waitFor()
      await admin.page.reload()
      await admin.page.getByRole('button', { name: 'Place a hold' }).waitFor()
      expect([...admin.faults, ...other.faults]).toEqual([])
      for (const { page } of [admin, other]) await page.context().close()
      await restore()
    })
  })
}

/** An entry of the address book, and a second administrator until `restore`. */
async function prepared(stack: Stack): Promise<{ id: string; restore: () => Promise<unknown> }> {
  const admin = await stack.client('admin')
  const vault = admin.vault(vaultCode)
  const { items } = await vault.policyGroups.list({ limit: 100 }).page()
  const administrators = items.find(({ code }) => code === 'administrators')!.id
  const policy = { code: `book-${Date.now()}`, name: 'The address book', actionType: 'counterparty_create' } as const
  await vault.policies.create(administrators, { ...policy, effect: 'allow' })
  const { user } = await (await stack.client('compliance')).auth.getCurrentSession()
  await vault.policyGroups.addMember(administrators, { userId: user.id })
  const { value } = await vault.counterparties.create({ name: 'Harbour Trading', kind: 'company' })
  return { id: value!.id, restore: () => vault.policyGroups.removeMember(administrators, user.id) }
}
