import type { Strongroom } from '@strongroom/sdk'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { emails, type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, watchPage } from '../support/watched-page.ts'

export function rulesFlows(stack: () => Stack): void {
  describe('the rules under governance', () => {
    it('an edit is sent for approval, compared, and applied by the vote of another one', async () => {
      const { policyId, restore } = await prepared(stack())
      const base = `${stack().url}/v/${vaultCode}`
      const admin = await watchPage(await stack().contextOf('admin'), stack().url)
      await admin.page.goto(`${base}/rules?tab=settings`)
      await admin.page.getByLabel('People who must agree, besides the author').fill('1')
      await admin.page.getByRole('button', { name: 'Save' }).click()
      await admin.page.getByText('The governance is changed').waitFor()
      expect(await axeViolations(admin.page)).toEqual([])

      await admin.page.goto(`${base}/policies/${policyId}`)
      await admin.page.getByRole('button', { name: 'Switch off' }).click()
      await admin.page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
      const sent = admin.page.getByRole('status').getByRole('link', { name: 'See who votes' })
      const path = await sent.getAttribute('href')
      await sent.click()
      await admin.page.getByRole('link', { name: 'See what it changes' }).click()
      await admin.page.getByText('May permit more').waitFor()
      await admin.page.getByRole('heading', { name: /^Policy: / }).waitFor()
      await admin.page.getByRole('button', { name: 'Try on history' }).click()
      await admin.page.getByText(/^\d+ decisions? of this period$/).waitFor()
      await changedRow(admin.page).click()
      await admin.page.getByRole('heading', { name: 'After' }).first().waitFor()
      expect(await axeViolations(admin.page)).toEqual([])

      const other = await watchPage(await stack().contextOf('compliance'), stack().url)
      await seesAltered(other.page, `${stack().url}${path}`)
      await other.page.goto(`${stack().url}${path}`)
      await other.page.getByRole('button', { name: 'Approve' }).click()
      await other.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
      await other.page.getByText('You approved this.').waitFor()
      await admin.page.reload()
      await admin.page.getByText('Applied', { exact: true }).waitFor()

      await admin.page.goto(`${base}/rules?tab=versions`)
      await admin.page
        .getByRole('button', { name: /^What version \d+ changed$/ })
        .first()
        .click()
      await admin.page
        .getByRole('dialog')
        .getByRole('heading', { name: /^Policy: / })
        .waitFor()
      expect(await axeViolations(admin.page)).toEqual([])
      const rename = await confirmTokenName(stack(), admin.page, other.page)
      expect([...admin.faults, ...other.faults]).toEqual([])
      for (const { page } of [admin, other]) await page.context().close()
      await restore()
      await rename()
    })
  })
  voterFlows(stack)
  draftFlows(stack)
}

/** A voter is shown other differences than those that the vote is bound to, and cannot vote on them. */
async function seesAltered(page: Page, url: string): Promise<void> {
  await page.route('**/change-sets/*', async (route) => {
    const response = await route.fetch()
    const set = (await response.json()) as { differences: { name: string }[] }
    set.differences[0]!.name = 'Another policy'
    await route.fulfill({ response, json: set })
  })
  await page.goto(url)
  await page.getByText('What is shown is not what votes are bound to').waitFor()
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  expect(await page.getByText('Another policy').count()).toBe(0)
  await page.unroute('**/change-sets/*')
}

/** Two platform administrators change the name of a token, the second of whom is made one. Returns a function that restores it. */
async function confirmTokenName(stack: Stack, first: Page, second: Page): Promise<() => Promise<unknown>> {
  const { tokens } = await stack.client('admin')
  const { items } = await tokens.list({ search: 'TUSD', limit: 1 }).page()
  const [token] = items
  const name = 'W'.repeat(70)
  await tokens.update(token!.id, { name })
  const makeAdministrator = (isOne: boolean) =>
    stack.sql('update users set is_platform_admin = $2 where email = $1', [emails.compliance, isOne])
  await makeAdministrator(true)
  await first.goto(`${stack.url}/platform?part=changes`)
  const because = await first.getByRole('button', { name: 'Confirm' }).getAttribute('title')
  expect(because).toBe('You asked for it: another platform administrator must confirm it.')
  await second.goto(`${stack.url}/platform?part=changes`)
  await second.getByText(`TUSD · ${token!.network}`).waitFor()
  await second.locator('del', { hasText: token!.name }).waitFor()
  await second.getByRole('button', { name: 'Confirm' }).click()
  expect(await axeViolations(second)).toEqual([])
  await second.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await second.getByText('The change is made.').waitFor()
  expect((await tokens.list({ search: 'TUSD', limit: 1 }).page()).items[0]).toMatchObject({ name })
  const restore = () => tokens.update(token!.id, { name: token!.name })
  await restore()
  await first.reload()
  await first.getByRole('button', { name: 'Reject' }).click()
  await first.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await first.getByText('No change waits for a decision.').waitFor()
  await makeAdministrator(false)
  return restore
}

/** The first of the decisions that a backtest says would change. */
const changedRow = (page: Page) =>
  page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Decisions that change' }) })
    .locator('summary')
    .first()

function voterFlows(stack: () => Stack): void {
  it('a voter without administration rights sees how many past decisions a change affects', async () => {
    const { id, reject, restore } = await submittedToTreasury(stack())
    const { page, faults } = await watchPage(await stack().contextOf('secondTreasurer'), stack().url)
    await page.goto(`${stack().url}/v/${vaultCode}/rules/${id}`)
    await page.getByText(/^All decisions of the vault are counted, because you vote\./).waitFor()
    await page.getByLabel('Days before the votes were asked for').selectOption('90')
    await page.getByRole('button', { name: 'Try on history' }).click()
    await page.getByText(/^\d+ decisions? of this period$/).waitFor()
    // Requests of compliance are not shown to treasurers.
    await page.getByText(/^\d+ of the decisions that change (is|are) not shown, because you may not see/).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await reject()
    await page.reload()
    await page.getByText('Rejected', { exact: true }).waitFor()
    expect(await page.getByRole('heading', { name: 'Try it on history' }).count()).toBe(0)
    expect(faults).toEqual([])
    await page.context().close()
    await restore()
  })
}

/** A change set that the treasury votes on. None of its members is an administrator. `restore` switches governance off. */
async function submittedToTreasury(
  stack: Stack,
): Promise<{ id: string; reject(): Promise<unknown>; restore(): Promise<unknown> }> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const treasurer = (await stack.client('treasurer')).vault(vaultCode)
  const { items: groups } = await vault.policyGroups.list({ limit: 100 }).page()
  const approverGroupId = groups.find(({ code }) => code === 'treasury')!.id
  const delays = { looseningDelayHours: 0, tighteningDelayHours: 0 }
  await vault.governance.update({ threshold: 1, approverGroupId, ...delays })
  const targetId = await policyOfAskedAddress(vault)
  const changes = [{ action: 'policy_update' as const, targetId, payload: { enabled: false } }]
  const { id } = await vault.changeSets.create({ title: 'No addresses for compliance', changes })
  await vault.changeSets.submit(id)
  const { requestId } = await vault.changeSets.get(id)
  return {
    id,
    reject: () => treasurer.approvalRequests.reject(requestId!),
    async restore() {
      const { pendingApproval } = await vault.governance.update({ threshold: 0, ...delays })
      return treasurer.approvalRequests.approve(pendingApproval!.id)
    },
  }
}

function draftFlows(stack: () => Stack): void {
  describe('a draft of the rules', () => {
    it('is written as sentences: a group, and a policy for it that is edited', async () => {
      const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
      const sheet = page.getByRole('dialog')
      await page.goto(`${stack().url}/v/${vaultCode}/rules`)
      await page.getByRole('button', { name: 'New change set' }).click()
      await sheet.getByLabel('What is to change').selectOption('New group')
      await sheet.getByLabel('Name', { exact: true }).fill('Night desk')
      await sheet.getByLabel('Short name').fill(`night-desk-${Date.now()}`)
      await sheet.getByLabel('What the change is for').fill('Somebody pays at night')
      expect(await axeViolations(page)).toEqual([])
      await sheet.getByRole('button', { name: 'Save the draft' }).click()

      await page.getByRole('button', { name: 'Add a change' }).click()
      await sheet.getByLabel('What is to change').selectOption('New policy')
      await sheet.getByRole('button', { name: 'On to its sentence' }).click()
      await page.getByLabel('Group', { exact: true }).selectOption('Night desk')
      await page.getByLabel('Effect of the policy').selectOption('it is allowed')
      await page.getByLabel('Name', { exact: true }).fill('Night payments')
      await saveIntoDraft(page)
      await page
        .locator('ins', { hasText: 'When anyone in Night desk orders a transfer, then it is allowed.' })
        .waitFor()
      const removal = page.getByRole('button', { name: 'Remove New group: Night desk' })
      expect(await removal.getAttribute('title')).toBe('Another change of this draft needs this change.')
      expect(await axeViolations(page)).toEqual([])

      await page.getByRole('link', { name: 'Edit New policy: Night payments' }).click()
      await page.getByLabel('Effect of the policy').selectOption('it is refused')
      await saveIntoDraft(page)
      await page
        .locator('ins', { hasText: 'When anyone in Night desk orders a transfer, then it is refused.' })
        .waitFor()
      await page.getByRole('button', { name: 'Remove New policy: Night payments' }).click()
      await expect.poll(() => page.getByText('Night payments').count()).toBe(0)
      await page.getByRole('button', { name: 'Cancel this change' }).click()
      await page.getByText('Cancelled', { exact: true }).waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })
  })
}

async function saveIntoDraft(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review and save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save the draft' }).click()
}

/** The policy that asks for votes on the address which compliance has asked for since the demo was set up. */
async function policyOfAskedAddress(vault: ReturnType<Strongroom['vault']>): Promise<string> {
  const { items } = await vault.policies.list({ limit: 100 }).page()
  return items.find(({ code }) => code === 'compliance-addresses')!.id
}

/** A policy whose end loosens the rules, and a second administrator, until `restore`. */
async function prepared(stack: Stack): Promise<{ policyId: string; restore: () => Promise<unknown> }> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const other = await stack.client('compliance')
  const { items } = await vault.policyGroups.list({ limit: 100 }).page()
  const administrators = items.find(({ code }) => code === 'administrators')!.id
  const { user } = await other.auth.getCurrentSession()
  await vault.policyGroups.addMember(administrators, { userId: user.id })
  const policyId = await policyOfAskedAddress(vault)
  const restore = async () => {
    const off = { threshold: 0, looseningDelayHours: 0, tighteningDelayHours: 0 }
    const { pendingApproval } = await vault.governance.update(off)
    await other.vault(vaultCode).approvalRequests.approve(pendingApproval!.id)
    await vault.policies.update(policyId, { enabled: true })
    await vault.policyGroups.removeMember(administrators, user.id)
  }
  return { policyId, restore }
}
