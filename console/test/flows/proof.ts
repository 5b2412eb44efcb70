import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { reportOnArchive } from '../../../server/src/cli/verify-archive.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, watchPage } from '../support/watched-page.ts'

export function proofFlows(stack: () => Stack): void {
  describe('the record', () => {
    it('leaves as a file, at once and by the background', async () => {
      const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
      await page.goto(`${stack().url}/v/${vaultCode}/reports/operations`)
      await page.getByRole('button', { name: 'Export' }).click()
      const sheet = page.getByRole('dialog')
      await sheet.getByLabel('Format').selectOption('csv')
      expect(await axeViolations(page)).toEqual([])
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        sheet.getByRole('button', { name: 'Download now' }).click(),
      ])
      expect(await readFile(await file.path(), 'utf8')).toContain('TUSD')
      await sheet.getByRole('button', { name: 'Make the file in the background' }).click()
      await sheet.getByText('Ready').waitFor()
      await sheet.getByText(/^SHA-256/).waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('is proved by the browser of the administrator', async () => {
      const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
      await page.goto(`${stack().url}/v/${vaultCode}/audit`)
      await page.getByRole('button', { name: 'Verify everything' }).click()
      await page.getByText('Everything is correct').waitFor()
      expect(
        await page
          .getByText(/^[0-9a-f]{64}$/)
          .first()
          .textContent(),
      ).toHaveLength(64)
      expect(await axeViolations(page)).toEqual([])
      // The first steps of a vault ask for this.
      await page.getByRole('button', { name: 'I have noted the head down' }).click()
      await page.getByText(/^You noted the head of seal \d+ down on /).waitFor()
      expect(faults).toEqual([])
      await page.context().close()
    })

    wholeInstallation(stack)
    archiveForAuditor(stack)
    unreached(stack)

    it('is checked from a file by somebody without a session, and one altered byte is found', async () => {
      const evidence = await evidenceOfConfirmed(stack())
      const { page, faults } = await watchPage(await stack().browser.newContext(), stack().url)
      const requestedPaths: string[] = []
      page.on('request', (request) => requestedPaths.push(new URL(request.url()).pathname))
      await page.goto(`${stack().url}/verify`)
      await take(evidence)
      await page.getByText('Nothing contradicts the file', { exact: true }).waitFor()
      await page.getByText(/^\d+ values proven, \d+ not proven by this file$/).waitFor()
      expect(await axeViolations(page)).toEqual([])

      await take(evidence.replace(/"amount":"(\d)/, (_, digit: string) => `"amount":"${(Number(digit) + 1) % 10}`))
      await page.getByText('The file contradicts itself').waitFor()
      expect(requestedPaths.filter((path) => path.startsWith('/api/'))).toEqual([])
      expect(faults).toEqual([])
      await page.context().close()

      async function take(text: string): Promise<void> {
        const file = { name: 'evidence.json', mimeType: 'application/json', buffer: Buffer.from(text) }
        await page.locator('input[type=file]').setInputFiles(file)
      }
    })
  })
}

function archiveForAuditor(stack: () => Stack): void {
  it('leaves as one archive for the auditor, in which one command finds no difference', async () => {
    const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
    await page.goto(`${stack().url}/v/${vaultCode}/reports`)
    await page.getByRole('link', { name: /^Export for the auditor/ }).click()
    await page.getByLabel('Period').selectOption('last30')
    await page.getByText('The period has not ended: later operations will not be in the archive.').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Make the archive' }).click()
    await page.getByText('Ready', { exact: true }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(/^auditor_archive-c[a-z0-9]{24}\.zip$/)
    const { lines, isSound } = await reportOnArchive(await file.path(), { keys: [], heads: [] })
    expect(isSound, lines.join('\n')).toBe(true)
    expect(faults).toEqual([])
    await page.context().close()
  })
}

function wholeInstallation(stack: () => Stack): void {
  it('is read and proved for the whole installation by its administrator', async () => {
    const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
    await page.goto(`${stack().url}/platform`)
    await page.getByRole('tab', { name: 'Audit' }).click()
    await page.getByLabel('What', { exact: true }).selectOption('user.signed_in')
    await page
      .getByRole('cell', { name: /^Person: signed in/ })
      .first()
      .waitFor()
    await page
      .getByRole('cell', { name: /treasurer/ })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByRole('button', { name: 'Verify everything' }).click()
    await page.getByText('Everything is correct').waitFor()
    expect(await axeViolations(page)).toEqual([])
    expect(faults).toEqual([])
    await page.context().close()
  })
}

function unreached(stack: () => Stack): void {
  it('stays in sight while the service does not answer, and says that it is old', async () => {
    const context = await stack().contextOf('admin')
    const page = await context.newPage()
    await page.goto(`${stack().url}/v/${vaultCode}/books`)
    await page.getByText('Every balance is the sum of its entries').waitFor()
    let answers = false
    await context.route('**/api/**', (route) => (answers ? route.continue() : route.abort()))
    await page.getByRole('button', { name: 'Compare again' }).click()
    const bar = page.getByText('The service does not answer.')
    await bar.waitFor()
    await page.getByText(/^As of /).waitFor()
    expect(await page.getByText('Every balance is the sum of its entries').isVisible()).toBe(true)
    // The page asks again by itself, too: the service must not answer before the button is pressed, or the button is gone.
    await page.exposeFunction('answerAgain', () => {
      answers = true
    })
    const again = page.getByRole('button', { name: 'Try again' })
    await again.evaluate((button) => button.addEventListener('click', Reflect.get(globalThis, 'answerAgain'), true))
    await again.click()
    await bar.waitFor({ state: 'hidden' })
    await page.getByText(/^As of /).waitFor({ state: 'hidden' })
    await context.close()
  })

  it('stays in sight, too, while the service asks to wait', async () => {
    const context = await stack().contextOf('admin')
    const page = await context.newPage()
    await page.goto(`${stack().url}/v/${vaultCode}/books`)
    const found = page.getByText('Every balance is the sum of its entries')
    await found.waitFor()
    const json = {
      error: 'Too Many Requests',
      message: 'Wait a moment',
      code: 429,
      reason: 'rate_limited',
      requestId: 'r',
    }
    const headers = { 'retry-after': '0' }
    await context.route('**/api/**', (route) => route.fulfill({ status: 429, json, headers }))
    await page.getByRole('button', { name: 'Compare again' }).click()
    await page.getByText(/^As of /).waitFor()
    expect(await found.isVisible()).toBe(true)
    await context.close()
  })
}

/** The evidence of a transfer that is through, once the seal of its last record is written. */
async function evidenceOfConfirmed(stack: Stack): Promise<string> {
  const { transfers } = (await stack.client('admin')).vault(vaultCode)
  const { items } = await transfers.list({ status: 'confirmed', limit: 1 }).page()
  let evidence = await transfers.getEvidence(items[0]!.id)
  await expect
    .poll(async () => {
      evidence = await transfers.getEvidence(items[0]!.id)
      return evidence.auditRecords.every(({ sealSequence }) => sealSequence !== null)
    })
    .toBe(true)
  return JSON.stringify(evidence)
}
