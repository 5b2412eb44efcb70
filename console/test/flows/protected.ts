import { describe, expect, it } from 'vitest'
import type { Stack } from '../support/stack.ts'
import { axeViolations, watchPage } from '../support/watched-page.ts'

const grouped = (hash: string) => hash.match(/.{4}/g)!.join(' ')

export function protectedFlows(stack: () => Stack): void {
  describe('a protected vault', () => {
    it('shows its administrator whom the wallet service believes', async () => {
      const { hash, keys } = await (await stack().client('admin')).vault('reserve').authority.get()
      const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
      await page.goto(`${stack().url}/v/reserve/settings`)
      await page.getByRole('heading', { name: 'Authority of the wallet service' }).waitFor()
      await page.getByText(grouped(hash)).waitFor()
      await page.getByText('above 0 ETH: 2 of keepers approve').waitFor()
      await page.getByText('at most 1 ETH in 24 hours').waitFor()
      expect(keys).toHaveLength(5)
      for (const { fingerprint } of keys) await page.getByText(grouped(fingerprint)).waitFor()
      expect(await axeViolations(page)).toEqual([])
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('gives evidence whose signatures anybody checks without a session', async () => {
      const payment = ['0.01', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8']
      const id = await stack().sign('order', 'anna', ...payment)
      for (const name of ['ben', 'clara']) await stack().sign('approve', name, id, ...payment)
      const evidence = await (await stack().client('admin')).vault('reserve').transfers.getEvidence(id)
      const { page, faults } = await watchPage(await stack().browser.newContext(), stack().url)
      await page.goto(`${stack().url}/verify`)
      await take(evidence)
      await page.getByRole('heading', { name: 'Signatures' }).waitFor()
      expect(await page.getByText('Valid', { exact: true }).count()).toBe(3)
      for (const { publicKey } of evidence.signedVotes) {
        const digest = await crypto.subtle.digest('SHA-256', Buffer.from(publicKey, 'base64url'))
        await page.getByText(grouped(Buffer.from(digest).toString('hex'))).waitFor()
      }
      expect(await axeViolations(page)).toEqual([])

      const [first, ...others] = evidence.signedVotes
      const vote = { ...first!.signed.vote, decision: 'reject' as const }
      await take({ ...evidence, signedVotes: [{ ...first!, signed: { ...first!.signed, vote } }, ...others] })
      await page.getByText('The signature is not valid.').waitFor()
      await page.getByText('The file contradicts itself').waitFor()
      expect(faults).toEqual([])
      await page.context().close()

      async function take(file: object): Promise<void> {
        const buffer = Buffer.from(JSON.stringify(file))
        const files = { name: 'evidence.json', mimeType: 'application/json', buffer }
        await page.locator('input[type=file]').setInputFiles(files)
      }
    })
  })
}
