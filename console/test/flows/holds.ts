import { describe, expect, it } from 'vitest'
import { allowEntries } from '../support/address-book.ts'
import { operationsOf, stranger } from '../support/orders.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, overflowOf, watchPage } from '../support/watched-page.ts'

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

    it('T28 on a recipient is named on the page of a payment that waits, which nobody can vote on then', async () => {
      const { path, payoutPath, addressBook } = await heldRecipient(stack())
      const { page, faults } = await watchPage(await stack().contextOf('secondTreasurer', phone), stack().url)
      await page.goto(`${stack().url}${path}`)
      const alarm = page.getByRole('region', { name: `Held: Counterparty ${longName}` })
      await alarm.getByText('It is on a list of sanctions').waitFor()
      await alarm.getByText(/^By .+, .+\.$/).waitFor()
      await alarm.getByText('Nobody can vote on this payment until two people have released the hold.').waitFor()
      const next = alarm.getByRole('link', { name: 'See what is held' })
      expect(await next.getAttribute('href')).toBe(addressBook)
      expect(await page.getByText('Not in the address book').count()).toBe(0)
      const approve = page.getByRole('button', { name: 'Approve' })
      expect(await approve.getAttribute('aria-disabled')).toBe('true')
      expect(await approve.getAttribute('title')).toBe('It is held: nobody can vote on it now.')
      await approve.click({ force: true })
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(await overflowOf(page)).toBe(0)
      expect(await axeViolations(page)).toEqual([])

      await page.goto(`${stack().url}${payoutPath}`)
      await page.getByRole('region', { name: `Row 2: Held: Counterparty ${longName}` }).waitFor()
      await page.getByText('Row 2 is held: nobody can vote on this payout now.').waitFor()
      expect(await approve.getAttribute('aria-disabled')).toBe('true')
      expect(await page.getByText('Held', { exact: true }).count()).toBe(1)
      expect(await overflowOf(page)).toBe(0)
      expect(await axeViolations(page)).toEqual([])
      expect(faults).toEqual([])
      await page.context().close()
    })

    leavesOut(stack)
  })
}

function leavesOut(stack: () => Stack): void {
  it('on a row of a payout is passed by its initiator, who leaves the row out, and the rest is voted on anew', async () => {
    const { payoutPath } = await heldRecipient(stack(), '0x7a1c00000000000000000000000000000decade5')
    const { page, faults } = await watchPage(await stack().contextOf('treasurer', phone), stack().url)
    await page.goto(`${stack().url}${payoutPath.replace('approvals/payout', 'payouts')}`)
    await page.getByRole('button', { name: 'Leave the held row out …' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByText('Waits for votes', { exact: true }).waitFor()
    expect((await sheet.textContent())!.replace(/\s/g, '')).toMatch(/115TUSD.*1paymenttakestheplace.*115TUSD/)
    expect(await axeViolations(page)).toEqual([])
    expect(await overflowOf(page)).toBe(0)
    await sheet.getByRole('button', { name: 'Confirm' }).click()
    const leftOut = page.getByRole('region', { name: '1 payment was left out' })
    await leftOut.waitFor()
    expect(await overflowOf(page)).toBe(0)
    const path = new URL(page.url()).pathname
    await page.getByRole('link', { name: 'another payout' }).click()
    await page.getByText('Replaced by').waitFor()

    const other = await watchPage(await stack().contextOf('secondTreasurer', phone), stack().url)
    await other.page.goto(`${stack().url}${path.replace('payouts', 'approvals/payout')}`)
    await other.page.getByRole('region', { name: '1 payment was left out' }).waitFor()
    expect(await axeViolations(other.page)).toEqual([])
    expect(await overflowOf(other.page)).toBe(0)
    await other.page.getByRole('button', { name: 'Approve' }).click()
    await other.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    await other.page.getByText('You approved this.').waitFor()
    expect([...faults, ...other.faults]).toEqual([])
    for (const shown of [page, other.page]) await shown.context().close()
  })
}

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const longName = 'Aktiengesellschaft für Hafenlogistik und Umschlagtechnik Bremerhaven'

type Held = Record<'path' | 'payoutPath' | 'addressBook', string>

/** A payment and a payout that wait, to an address that came into the address book and was held after the order. */
async function heldRecipient(stack: Stack, toAddress = '0x7a1c000000000000000000000000000000c0ffee'): Promise<Held> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { transfers, payouts } = (await stack.client('treasurer')).vault(vaultCode)
  const order = { fromAddressId: (await operationsOf(stack)).id, toAddress, token: 'TUSD', amount: '230' }
  const { id } = await transfers.create(order)
  const rows = [stranger, toAddress].map((to, i) => {
    return { ...order, toAddress: to, amount: '115', externalId: `held-${Date.now()}-${i}` }
  })
  const payout = await payouts.create({ rows })
  await allowEntries(stack)
  const addresses = [{ network: 'ethereum', address: toAddress }]
  const { value } = await vault.counterparties.create({ name: longName, kind: 'company', addresses })
  const subject = { subjectType: 'counterparty', subjectId: value!.id } as const
  await vault.holds.place({ ...subject, reason: 'It is on a list of sanctions' })
  const base = `/v/${vaultCode}`
  return {
    path: `${base}/approvals/transfer/${id}`,
    payoutPath: `${base}/approvals/payout/${payout.id}`,
    addressBook: `${base}/address-book/${value!.id}`,
  }
}

/** An entry of the address book, and a second administrator until `restore`. */
async function prepared(stack: Stack): Promise<{ id: string; restore: () => Promise<unknown> }> {
  const admin = await stack.client('admin')
  const vault = admin.vault(vaultCode)
  const { items } = await vault.policyGroups.list({ limit: 100 }).page()
  const administrators = items.find(({ code }) => code === 'administrators')!.id
  await allowEntries(stack)
  const { user } = await (await stack.client('compliance')).auth.getCurrentSession()
  await vault.policyGroups.addMember(administrators, { userId: user.id })
  const { value } = await vault.counterparties.create({ name: 'Harbour Trading', kind: 'company' })
  return { id: value!.id, restore: () => vault.policyGroups.removeMember(administrators, user.id) }
}
