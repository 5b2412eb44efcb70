import { describe, expect, it } from 'vitest'
import { tabTo } from '../support/keyboard.ts'
import { orderTransfer } from '../support/orders.ts'
import { emails, type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, overflowOf, watchPage } from '../support/watched-page.ts'

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** The driver does not see the body of a request that is sent as a stream, as the SDK does. */
const keepVote = `const send = globalThis.fetch
  globalThis.fetch = async (...asked) => {
    const request = new Request(...asked)
    if (request.url.endsWith('/approve')) globalThis.voted = await request.clone().text()
    return send(request)
  }`

export function voteFlows(stack: () => Stack): void {
  describe('a vote', () => {
    it('T28 is given from the mail in two taps, on a phone, for what the page shows in full', async () => {
      const transfer = await orderTransfer(stack(), '250', { maxFee: '4200000000000000' })
      const { page, faults } = await watchPage(await stack().contextOf('secondTreasurer', phone), stack().url)
      await page.addInitScript(keepVote)
      await page.goto(await linkToVote(stack(), emails.secondTreasurer, transfer.id))
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      await page.getByText('0.0042').waitFor()
      const shown = (await page.textContent('main'))!.replace(/\s/g, '')
      const { toAddress, payloadHash } = await transfer.read()
      expect([shown.includes(toAddress), shown.includes('250TUSD')]).toEqual([true, true])
      expect(shown).toContain('Feeatmost0.0042ETH')
      await page.getByRole('button', { name: 'Approve' }).tap()
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).tap()
      await page.getByText('You approved this.').waitFor()
      expect(JSON.parse(String(await page.evaluate('globalThis.voted')))).toMatchObject({ payloadHash })
      expect(await overflowOf(page)).toBe(0)
      expect(await axeViolations(page)).toEqual([])
      expect((await transfer.read()).status).not.toBe('awaiting_approval')
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('is given by the keyboard alone, on a wide screen', async () => {
      const transfer = await orderTransfer(stack(), '260')
      const { page, faults } = await watchPage(await stack().contextOf('thirdTreasurer'), stack().url)
      await page.goto(`${stack().url}/v/${vaultCode}/approvals`)
      await page.locator(`a[href$="${transfer.id}"]`).waitFor()
      await tabTo(page, `document.activeElement?.href?.endsWith('${transfer.id}') === true`)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/approvals/transfer/${transfer.id}`)
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      // The key means something from the moment after the button is drawn.
      const opens = async () => {
        await page.keyboard.press('a')
        return await page.getByRole('dialog').isVisible()
      }
      await expect.poll(opens).toBe(true)
      await tabTo(page, `document.activeElement?.textContent === 'Confirm'`)
      await page.keyboard.press('Enter')
      await page.getByText('You approved this.').waitFor()
      expect((await transfer.read()).approvers.filter(({ decision }) => decision === 'approve')).toHaveLength(1)
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('against it needs a reason, which the person who asked can read', async () => {
      const transfer = await orderTransfer(stack(), '270')
      const { page, faults } = await watchPage(await stack().contextOf('secondTreasurer', phone), stack().url)
      await page.goto(await linkToVote(stack(), emails.secondTreasurer, transfer.id))
      await page.getByRole('button', { name: 'Reject' }).tap()
      const sheet = page.getByRole('dialog')
      await sheet.getByRole('button', { name: 'Confirm the rejection' }).tap()
      await sheet.getByText('Give a reason so that the initiator can correct it.').waitFor()
      expect(await axeViolations(page)).toEqual([])
      await sheet.getByRole('button', { name: 'Wrong amount' }).tap()
      await sheet.getByRole('button', { name: 'Confirm the rejection' }).tap()
      await page.getByText('You rejected this.').waitFor()
      const { approvers } = await transfer.read()
      expect(approvers.find(({ decision }) => decision === 'reject')).toMatchObject({ comment: 'Wrong amount' })
      expect(faults).toEqual([])
      await page.context().close()
    })

    votesOnChanges(stack)
  })
}

function votesOnChanges(stack: () => Stack): void {
  it('on a change is given for what the page names, and not for an id', async () => {
    const request = await requestRemoval(stack(), 'Northwind')
    const { page, faults } = await watchPage(await stack().contextOf('admin', phone), stack().url)
    await page.goto(`${stack().url}/v/${vaultCode}/approvals/request/${request}`)
    await page.getByRole('heading', { name: 'Removal of a counterparty' }).waitFor()
    await page.getByRole('link', { name: 'Northwind' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve' }).tap()
    await page.getByRole('dialog').getByText('Northwind').waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })
}

/** The treasurer wants to remove an entry of the address book, about which the administrators vote. */
async function requestRemoval(stack: Stack, name: string): Promise<string> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { items: groups } = await vault.policyGroups.list({ limit: 100 }).page()
  const [treasury, administrators] = ['treasury', 'administrators'].map(
    (code) => groups.find((group) => group.code === code)!.id,
  )
  const approvers = [{ kind: 'group' as const, groupId: administrators! }]
  const rules = { effect: 'requireApproval', approvalThreshold: 1, approvers } as const
  const removal = { code: `removals-${Date.now()}`, name: 'Removals', actionType: 'counterparty_archive' as const }
  await vault.policies.create(treasury!, { ...removal, ...rules })
  const entry = {
    code: 'entries',
    name: 'Entries',
    actionType: 'counterparty_create' as const,
    effect: 'allow' as const,
  }
  await vault.policies.create(administrators!, entry)
  const { value } = await vault.counterparties.create({ name, kind: 'company' })
  const { counterparties } = (await stack.client('treasurer')).vault(vaultCode)
  return (await counterparties.archive(value!.id)).pendingApproval!.id
}

/** The first link of the mail that asks for a vote on a transfer. */
async function linkToVote({ mailTo, url }: Stack, email: string, transferId: string): Promise<string> {
  const path = `/v/${vaultCode}/approvals/transfer/${transferId}`
  const mail = await mailTo(email, ({ text }) => text.includes(path))
  expect(/https?:\/\/\S+/.exec(mail.text)?.[0]).toBe(`${url}${path}`)
  return `${url}${path}`
}
