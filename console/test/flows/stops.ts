import { describe, expect, it } from 'vitest'
import { windowOf } from '../support/signing-window.ts'
import { type Keeper, reserveCode, type Stack } from '../support/stack.ts'
import { axeViolations, overflowOf, watchPage } from '../support/watched-page.ts'

const stranger = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

export function stopFlows(stack: () => Stack): void {
  const open = async (name: Keeper, path: string, options = {}) => {
    const watched = await watchPage(await stack().contextOf(name, options), stack().url)
    await watched.page.goto(`${stack().url}/v/${reserveCode}${path}`)
    return watched
  }
  /** Returns the status of a transfer, and the decisions on it that people signed. */
  const endOf = async (id: string) => {
    const { transfers } = (await stack().client('admin')).vault(reserveCode)
    const { signedVotes, transfer } = await transfers.getEvidence(id)
    return [transfer.status, ...signedVotes.map(({ signed }) => signed.vote.decision).sort()]
  }

  describe('T58 in a protected vault', () => {
    it.each([
      ['with a signature', true, ['rejected', 'initiate', 'reject']],
      ['without a signature', false, ['rejected', 'initiate']],
    ])('a veto is sent %s, and the page explains the difference', async (_name, isSigned, end) => {
      const id = await stack().sign('order', 'anna', '0.011', stranger)
      const { page, faults } = await open('ben', `/approvals/transfer/${id}`, phone)
      await page.getByRole('button', { name: 'Reject' }).tap()
      const sheet = page.getByRole('dialog')
      await sheet.getByRole('button', { name: 'Wrong amount' }).tap()
      await sheet.getByText('Votes that were signed before end at the wallet service, too.').waitFor()
      const confirm = () => sheet.getByRole('button', { name: 'Confirm the rejection' }).tap()
      if (isSigned) {
        const popup = await windowOf(stack(), page, 'ben', confirm)
        await popup.getByRole('button', { name: 'Sign the rejection' }).click()
      } else {
        await sheet.getByLabel('Sign it with a passkey').uncheck()
        await sheet.getByText('Without a signature only this service stops it.').waitFor()
        expect([await axeViolations(page), await overflowOf(page)]).toEqual([[], 0])
        await confirm()
      }
      await page.getByText('You rejected this.').waitFor()
      expect(await endOf(id)).toEqual(end)
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('the page of an order fits on a phone in German', async () => {
      const id = await stack().sign('order', 'anna', '0.013', stranger)
      const { page, faults } = await open('ben', `/approvals/transfer/${id}`, { ...phone, locale: 'de-DE' })
      await page.getByText('Nicht in der signierten Adressliste').waitFor()
      expect(await overflowOf(page)).toBe(0)
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('a cancellation is signed for the order that the page shows', async () => {
      const id = await stack().sign('order', 'anna', '0.012', stranger)
      const { page, faults } = await open('anna', `/transfers/${id}`)
      await page.getByRole('button', { name: 'Cancel the transfer' }).click()
      const sheet = page.getByRole('dialog')
      await sheet.getByText('0.012').last().waitFor()
      const popup = await windowOf(stack(), page, 'anna', () =>
        sheet.getByRole('button', { name: 'Cancel the transfer' }).click(),
      )
      await popup.getByRole('button', { name: 'Sign the cancellation' }).click()
      await sheet.waitFor({ state: 'hidden' })
      expect(await endOf(id)).toEqual(['cancelled', 'cancel', 'initiate'])
      expect(faults).toEqual([])
      await page.context().close()
    })

    rejectionsFromTheList(stack, open, endOf)
    authorityFlows(stack, open)
  })
}

type Open = (name: Keeper, path: string, options?: object) => ReturnType<typeof watchPage>

type EndOf = (id: string) => Promise<string[]>

function rejectionsFromTheList(stack: () => Stack, open: Open, endOf: EndOf): void {
  it('several orders are rejected together without signatures, and the sheet says that the wallet service is not stopped', async () => {
    const ids = [await stack().sign('order', 'anna', '0.014', stranger)]
    ids.push(await stack().sign('order', 'anna', '0.015', stranger))
    const { page, faults } = await open('ben', '/approvals')
    for (const id of ids) {
      const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${id}"]`) })
      await row.getByRole('checkbox').check()
    }
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Reject selected' }).click()
    const sheet = page.getByRole('dialog')
    await sheet
      .getByText(
        'Rejections from this list are not signed. In a protected vault they stop nothing at the wallet service',
      )
      .waitFor()
    expect(await axeViolations(page)).toEqual([])
    const reject = sheet.getByRole('button', { name: 'Reject 2 rows' })
    await reject.click()
    await sheet.getByText('Give a reason so that the initiator can correct it.').waitFor()
    await sheet.getByLabel('Reason').fill('Both are wrong')
    await reject.click()
    await sheet.getByText('2 votes were cast.').waitFor()
    for (const id of ids) {
      expect(await endOf(id)).toEqual(['rejected', 'initiate'])
      const { transfers } = (await stack().client('ben')).vault(reserveCode)
      const { approvers } = await transfers.get(id)
      const comments = approvers.filter(({ decision }) => decision === 'reject').map(({ comment }) => comment)
      expect(comments).toEqual(['Both are wrong'])
    }
    expect(faults).toEqual([])
    await page.context().close()
  })
}

function authorityFlows(stack: () => Stack, open: Open): void {
  it.each([
    ['with a text that they pass on', true],
    ['without a text, because the wallet service has each signature', false],
  ])('T81 everybody sees the waiting authority, and two people cancel it %s', async (_how, isHandedOn) => {
    if (isHandedOn) await stack().signNextAuthority({ delayHours: 24 })
    // A cancelled version is never accepted again, so the second case signs another version.
    const changes = { trustsServicePage: true, delayHours: isHandedOn ? 24 : 48 }
    const { version, hash } = await stack().signNextAuthority(changes)
    const cancelBy = async (name: Keeper, text: string) => {
      const { page, faults } = await open(name, '/activity')
      const notice = page.getByRole('status').filter({ hasText: `Version ${version} of the authority is signed` })
      await notice.getByText(hash.match(/.{4}/g)!.join(' ')).waitFor()
      await notice.getByText('This version trusts the pages of this service').waitFor()
      await notice.getByRole('button', { name: 'Cancel this version …' }).click()
      const sheet = page.getByRole('dialog')
      const field = sheet.getByLabel('Signatures of this cancellation')
      await field.fill(text)
      const popup = await windowOf(stack(), page, name, () =>
        sheet.getByRole('button', { name: 'Sign the cancellation' }).click(),
      )
      await popup.getByRole('button', { name: 'Sign the cancellation' }).click()
      return { page, faults, sheet, field, notice }
    }
    const anna = await cancelBy('anna', '')
    await anna.sheet.getByText('1 of 2 signed.').waitFor()
    expect(await axeViolations(anna.page)).toEqual([])
    const ben = await cancelBy('ben', isHandedOn ? await anna.field.inputValue() : '')
    await ben.notice.waitFor({ state: 'hidden' })
    const { authority } = (await stack().client('anna')).vault(reserveCode)
    expect(await authority.get()).toMatchObject({ version: version - 1, pending: null })
    expect([...anna.faults, ...ben.faults]).toEqual([])
    for (const { page } of [anna, ben]) await page.context().close()
  })

  it('T59 a browser that saw a newer authority shows an alarm until people say that they compared it', async () => {
    const { id } = await (await stack().client('ben')).vault(reserveCode).get()
    const { page, faults } = await watchPage(await stack().contextOf('ben'), stack().url)
    await page.addInitScript(`localStorage.getItem('seen') ?? localStorage.setItem('strongroom.authority.${id}',
      '{"version":99,"hash":"${'ab'.repeat(32)}"}'); localStorage.setItem('seen', '1')`)
    await page.goto(`${stack().url}/v/${reserveCode}/approvals`)
    const alarm = page.getByRole('alert').filter({ hasText: 'an older authority of this vault than before' })
    await alarm.getByText('Seen here before: version 99').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await alarm.getByRole('button', { name: 'We compared the fingerprint: it is correct' }).click()
    await alarm.waitFor({ state: 'hidden' })
    await page.reload()
    await page.getByRole('heading', { name: 'Approvals' }).first().waitFor()
    expect(await alarm.count()).toBe(0)
    expect(faults).toEqual([])
    await page.context().close()
  })
}
