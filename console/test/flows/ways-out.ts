import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { operationsOf, orderTransfer, stranger } from '../support/orders.ts'
import { type Person, type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, type WatchedPage, watchPage } from '../support/watched-page.ts'

/** The console can end every wait that could last for ever, and let a stopped person in again. */
export function waysOutFlows(stack: () => Stack): void {
  const open: Open = async (person, path) => {
    const watched = await watchPage(await stack().contextOf(person), stack().url)
    await watched.page.goto(`${stack().url}${path}`)
    return watched
  }
  describe('waiting requests', () => {
    speedUp(stack, open)
    halted(stack, open)
    quarantined(stack, open)
  })
  auditors(stack, open)
  offboarding(stack, open)
}

/** A page on which this person is signed in. */
type Open = (person: Person, path: string) => Promise<WatchedPage>

function speedUp(stack: () => Stack, open: Open): void {
  it('is sped up by its sender, once a transaction pays too little', async () => {
    const { chain } = stack()
    await chain('evm_setAutomine', false)
    const { id, read } = await orderTransfer(stack(), '3')
    await expect.poll(async () => (await read()).txHashes.length, { timeout: 60_000 }).toBe(1)
    const { page, faults } = await open('treasurer', `/v/${vaultCode}/transfers/${id}`)
    await page.getByRole('button', { name: 'Speed up' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Costs at most').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Speed up' }).click()
    await page.getByText('The transfer was sent with a higher fee.').waitFor()
    expect((await read()).txHashes).toHaveLength(2)
    await chain('evm_setAutomine', true)
    await chain('evm_mine')
    await page.getByText('Confirmed').first().waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })
}

function halted(stack: () => Stack, open: Open): void {
  it('is halted when its row was changed, and goes on as it was ordered when two people say so', async () => {
    const restore = await withSecondAdministrator(stack())
    const { id, read } = await orderTransfer(stack(), '210')
    // A seal that is made of the changed row differs from the restored row for good.
    const { transfers } = (await stack().client('admin')).vault(vaultCode)
    const isSealed = async () =>
      (await transfers.getEvidence(id)).ledgerEntries.every((entry) => entry.sealSequence !== null)
    await expect.poll(isSealed).toBe(true)
    await stack().sql('update transfers set to_address = $2 where id = $1', [id, `0x${'ab'.repeat(20)}`])
    const voter = await open('secondTreasurer', `/v/${vaultCode}/approvals/transfer/${id}`)
    await confirm(voter.page, 'Approve')
    await expect.poll(async () => (await read()).haltReason).not.toBeNull()

    const { page, faults } = await open('admin', `/v/${vaultCode}/transfers/${id}`)
    await page.getByRole('heading', { name: 'This transfer is halted' }).waitFor()
    await page.getByRole('button', { name: 'Resolve the transfer' }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('The row was repaired from the record')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Send the request' }).click()
    const path = await page.getByRole('link', { name: 'Your request waits for votes' }).getAttribute('href')

    const other = await open('compliance', path!)
    await other.page.getByText('The row was repaired from the record').first().waitFor()
    expect(await axeViolations(other.page)).toEqual([])
    await confirm(other.page, 'Approve')
    await other.page.getByText('You approved this.').waitFor()
    await expect.poll(async () => (await read()).haltReason).toBeNull()
    expect((await read()).toAddress).toBe(stranger)
    await close(voter, { page, faults }, other)
    await restore()
  })
}

function quarantined(stack: () => Stack, open: Open): void {
  it('is an event that contradicts a deposit, until two people dismiss it', async () => {
    const restore = await withSecondAdministrator(stack())
    await contradict(stack())
    const { page, faults } = await open('admin', `/v/${vaultCode}/books?part=held`)
    await page.getByRole('button', { name: 'Decide' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Decision on the deposit').selectOption('dismiss')
    await dialog.getByLabel('Reason').fill('The first report was right')
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Send the request' }).click()
    const path = await page.getByRole('link', { name: 'Waits for votes' }).getAttribute('href')

    const other = await open('compliance', path!)
    await confirm(other.page, 'Approve')
    await other.page.getByText('You approved this.').waitFor()
    await page.reload()
    await page.getByText('No deposit is held.').waitFor()
    await close({ page, faults }, other)
    await restore()
  })
}

function auditors(stack: () => Stack, open: Open): void {
  describe('an auditor', () => {
    it('reads what administrators read, and finds no controls that change it', async () => {
      const restore = await withMember(stack(), 'auditors', 'thirdTreasurer')
      const { page, faults } = await open('thirdTreasurer', `/v/${vaultCode}/audit`)
      await page.getByRole('table').getByRole('row').nth(1).waitFor()
      for (const path of ['policies', 'books', 'people', 'reports']) {
        await page.goto(`${stack().url}/v/${vaultCode}/${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        expect(await axeViolations(page)).toEqual([])
        for (const word of ['New policy', 'Invite', 'Adjust']) {
          expect(await page.getByRole('button', { name: word }).count()).toBe(0)
        }
      }
      await close({ page, faults })
      await restore()
    })
  })
}

/** Opens the sheet in which an administrator of the platform disables a treasurer. */
async function openLeaver(open: Open) {
  const { page, faults } = await open('admin', '/platform?part=people')
  await page
    .getByRole('row', { name: /third\.treasurer/ })
    .getByRole('button', { name: 'Disable' })
    .click()
  return { page, dialog: page.getByRole('dialog'), faults }
}

function offboarding(stack: () => Stack, open: Open): void {
  describe('people who leave', () => {
    it('is signed out everywhere, which ends the sessions that are shown', async () => {
      const person = await open('thirdTreasurer', `/v/${vaultCode}`)
      await person.page.getByRole('heading', { level: 1 }).waitFor()
      const { page, dialog, faults } = await openLeaver(open)
      await dialog
        .getByText(/last seen/)
        .first()
        .waitFor()
      expect(await axeViolations(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Sign out everywhere' }).click()
      await dialog.getByText('Nowhere.').waitFor()
      await person.page.goto(`${stack().url}/v/${vaultCode}`)
      await person.page.getByLabel('E-mail address').waitFor()
      expect(faults).toEqual([])
      for (const openPage of [page, person.page]) await openPage.context().close()
      stack().forgetSession('thirdTreasurer')
    })

    it('is disabled, which ends their sessions, and is let in again', async () => {
      const person = await open('thirdTreasurer', `/v/${vaultCode}`)
      await person.page.getByRole('heading', { level: 1 }).waitFor()
      const { page, dialog, faults } = await openLeaver(open)
      await dialog.getByLabel('Reason').fill('Left the company')
      expect(await axeViolations(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Disable' }).click()
      await page.getByLabel('Shown').selectOption({ label: 'Disabled accounts' })
      await page
        .getByRole('row', { name: /third\.treasurer/ })
        .getByRole('button', { name: 'Enable' })
        .waitFor()
      await person.page.goto(`${stack().url}/v/${vaultCode}`)
      await person.page.getByLabel('E-mail address').waitFor()
      await page
        .getByRole('row', { name: /third\.treasurer/ })
        .getByRole('button', { name: 'Enable' })
        .click()
      await dialog.getByLabel('Reason').fill('Came back')
      await dialog.getByRole('button', { name: 'Enable' }).click()
      await page.getByText('Nobody is disabled.').waitFor()
      expect(faults).toEqual([])
      for (const openPage of [page, person.page]) await openPage.context().close()
    })
  })
}

async function confirm(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: action }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
}

async function close(...all: WatchedPage[]): Promise<void> {
  expect(all.flatMap(({ faults }) => faults)).toEqual([])
  for (const { page } of all) await page.context().close()
}

/** Somebody is a member of a group until the answer is called. */
async function withMember(stack: Stack, code: string, person: Person): Promise<() => Promise<unknown>> {
  const { policyGroups } = (await stack.client('admin')).vault(vaultCode)
  const { items } = await policyGroups.list({ limit: 100 }).page()
  const { id } = items.find((group) => group.code === code)!
  const { user } = await (await stack.client(person)).auth.getCurrentSession()
  await policyGroups.addMember(id, { userId: user.id })
  return () => policyGroups.removeMember(id, user.id)
}

const withSecondAdministrator = (stack: Stack) => withMember(stack, 'administrators', 'compliance')

/** Two reports of the same payment with different amounts: the second is quarantined. */
async function contradict(stack: Stack): Promise<void> {
  const { network, address: toAddress } = await operationsOf(stack)
  const txHash = `0x${randomBytes(32).toString('hex')}`
  for (const amount of ['0.25', '0.5']) {
    await fetch(`${stack.url}/webhooks/wallet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'TOPUP', tx: { network, asset: null, amount, toAddress, txHash } }),
    })
  }
}
