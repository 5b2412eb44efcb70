import { describe, expect, it } from 'vitest'
import { pngOf } from '../../../server/src/testing/images.ts'
import { orderTransfer } from '../support/orders.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, type WatchedPage, watchPage } from '../support/watched-page.ts'

export function administrationFlows(stack: () => Stack): void {
  const open = async (path: string) => {
    const watched = await watchPage(await stack().contextOf('admin'), stack().url)
    await watched.page.goto(`${stack().url}/v/${vaultCode}${path}`)
    return watched
  }

  describe('an administrator', () => {
    otherFlows(open, stack)

    it('writes a policy as a sentence, and sees it in the matrix before it is saved and after', async () => {
      const { page, faults } = await open('/policies/new')
      await page.getByLabel('Group', { exact: true }).selectOption({ label: 'Treasury' })
      await page.getByRole('button', { name: '+ and …' }).click()
      await page.getByLabel('What is compared').first().selectOption({ label: 'the token' })
      await page.getByLabel('the token', { exact: true }).selectOption({ label: 'TUSD' })
      await page.getByRole('button', { name: '+ and …' }).click()
      await page.getByLabel('What is compared').nth(1).selectOption({ label: 'the amount' })
      await page.getByLabel('How it is compared').nth(1).selectOption({ label: 'is more than' })
      await page.getByLabel(/^the amount \(/).fill('40000')
      await page.getByLabel('Effect of the policy').selectOption({ label: 'it is refused' })
      await page.getByLabel('Name').fill('Nothing above 40,000 TUSD')
      await page.getByText('changes').first().waitFor()
      expect(await axeViolations(page)).toEqual([])
      await page.getByRole('button', { name: 'Review and save' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.waitForURL('**/policies')
      await page.getByRole('link', { name: 'Nothing above 40,000 TUSD' }).waitFor()
      const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Treasury' }) })
      await row.getByRole('cell', { name: 'Refused' }).waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('invites a person, who appears in the list and gets a mail', async () => {
      const { page, faults } = await open('/people')
      await page.getByRole('link', { name: 'Invitations' }).click()
      await page.getByRole('button', { name: 'Invite a person' }).click()
      const sheet = page.getByRole('dialog')
      await sheet.getByLabel('E-mail').fill('controller@example.org')
      await sheet.getByLabel('Groups').selectOption({ label: 'Treasury' })
      expect(await axeViolations(page)).toEqual([])
      await sheet.getByRole('button', { name: 'Send the invitation' }).click()
      await page
        .getByRole('listitem')
        .filter({ hasText: 'controller@example.org' })
        .getByText('Invited', { exact: true })
        .waitFor()
      await stack().mailTo('controller@example.org', ({ subject }) => subject.includes('invited'))
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('makes a category and gives it to an operation', async () => {
      const admin = await stack().client('admin')
      const { operationCategories } = admin.vault(vaultCode)
      const key = `rent_${Date.now()}`
      const category = (await operationCategories.create({ key, name: `Rent ${key}` })).value!
      const { page, faults } = await open('/activity')
      await page.getByRole('button', { name: 'Category: Tag' }).first().click()
      const popover = page.getByRole('dialog', { name: 'Category' })
      await popover.getByLabel(/^Assign/).selectOption({ label: category.name })
      expect(await axeViolations(page)).toEqual([])
      await popover.getByRole('button', { name: 'Assign' }).click()
      await page.getByRole('button', { name: `Category: ${category.name}` }).waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })
  })
}

function readsOnAPhone(stack: () => Stack): void {
  it('reads on a phone how the addresses of each network are checked, within the card', async () => {
    const phone = { viewport: { width: 320, height: 700 }, hasTouch: true, isMobile: true, locale: 'de-DE' }
    const { page, faults } = await watchPage(await stack().contextOf('admin', phone), stack().url)
    await page.goto(`${stack().url}/v/${vaultCode}/settings`)
    await page.locator('li > .icon').first().waitFor()
    const room = `[...document.querySelectorAll('li > .icon')].map((badge) =>
      badge.closest('ul').getBoundingClientRect().right - badge.getBoundingClientRect().right)`
    expect(Math.min(...((await page.evaluate(room)) as number[]))).toBeGreaterThanOrEqual(0)
    expect(faults).toEqual([])
    await page.context().close()
  })
}

function otherFlows(open: (path: string) => Promise<WatchedPage>, stack: () => Stack): void {
  readsOnAPhone(stack)
  givesAnImage(open)
  triesOnHistory(stack)
  makesAServiceToken(open)
}

function triesOnHistory(stack: () => Stack): void {
  it('tries a policy on history, in German, and sees what would change with both traces', async () => {
    await orderTransfer(stack(), '7')
    const context = await stack().contextOf('admin', { locale: 'de-DE' })
    const { page, faults } = await watchPage(context, stack().url)
    await page.goto(`${stack().url}/v/${vaultCode}/policies/new`)
    await page.getByLabel('Gruppe', { exact: true }).selectOption({ label: 'Treasury' })
    await page.getByRole('button', { name: '+ und …' }).click()
    await page.getByLabel('Was verglichen wird').first().selectOption({ label: 'die Art des Anfordernden' })
    await page.getByLabel('die Art des Anfordernden', { exact: true }).selectOption({ label: 'Person' })
    await page.getByRole('button', { name: '+ und …' }).click()
    await page
      .getByLabel('Was verglichen wird')
      .nth(1)
      .selectOption({ label: 'das Aussehen der Adresse des Empfängers' })
    await page
      .getByLabel('das Aussehen der Adresse des Empfängers', { exact: true })
      .selectOption({ label: 'wie keine andere bekannte Adresse' })
    await page.getByLabel('Wirkung der Regel').selectOption({ label: 'wird es abgelehnt' })
    await page.getByLabel('Name').fill('Niemand zahlt')
    await page.getByRole('button', { name: 'Ausprobieren', exact: true }).click()
    await page.getByRole('heading', { name: 'Entscheidungen, die sich ändern' }).waitFor()
    const change = page.getByRole('listitem').filter({ hasText: 'Strenger' }).first()
    await change.locator('summary').click()
    await change.getByRole('heading', { name: 'Vorher' }).waitFor()
    await change.getByRole('heading', { name: 'Nachher' }).waitFor()
    await change.getByText('Niemand zahlt').first().waitFor()
    expect(await axeViolations(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })
}

function givesAnImage(open: (path: string) => Promise<WatchedPage>): void {
  it('gives the vault an image, which is made small and stands beside its name on every page', async () => {
    const { page, faults } = await open('/settings')
    const file = { name: 'logo.png', mimeType: 'image/png', buffer: pngOf('logo', 900, 450) }
    await page.getByLabel('Choose an image').setInputFiles(file)
    const image = page.locator('header img[src^="/api/v1/images/"]')
    await image.waitFor()
    const decoded = `(async () => {
      const image = document.querySelector('header img[src^="/api/v1/images/"]')
      await image.decode()
      return [image.naturalWidth, image.naturalHeight]
    })()`
    expect(await page.evaluate(decoded)).toEqual([256, 128])
    expect(await axeViolations(page)).toEqual([])
    await page.getByLabel('Choose an image').setInputFiles({ ...file, buffer: Buffer.from('no image') })
    await page.getByRole('alert').getByText('This is no image that the browser can read.').waitFor()
    await page.getByRole('button', { name: 'Remove the image' }).click()
    await image.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
    await page.context().close()
  })
}

function makesAServiceToken(open: (path: string) => Promise<WatchedPage>): void {
  it('makes a service token that may only read and report', async () => {
    const { page, faults } = await open('/people')
    await page.getByRole('link', { name: 'Service tokens' }).click()
    await page.getByRole('button', { name: 'New service token' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel('Name').fill('Bookkeeping')
    await sheet.getByLabel('Groups').selectOption({ label: 'Treasury' })
    const scopes = sheet.getByRole('group', { name: 'What the token may be used for' })
    expect(await scopes.getByRole('checkbox', { checked: true }).count()).toBe(1)
    await scopes.getByLabel('Reporting').check()
    expect(await axeViolations(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Create' }).click()
    await sheet.getByRole('button', { name: 'I have stored the secret' }).click()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Bookkeeping' })
      .getByText('may only: Reading, Reporting')
      .waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })
}
