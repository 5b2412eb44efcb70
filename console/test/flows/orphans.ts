import { randomBytes } from 'node:crypto'
import { fromRaw } from '@strongroom/sdk'
import { describe, expect, it } from 'vitest'
import { operationsOf, stranger } from '../support/orders.ts'
import { type Stack, vaultCode } from '../support/stack.ts'
import { axeViolations, watchPage } from '../support/watched-page.ts'

export function orphanFlows(stack: () => Stack): void {
  describe('a deposit that the chain takes back', () => {
    it('says so on its page, and its address, the vault and the form to send say what that stops', async () => {
      const { depositId, addressId, restore } = await prepared(stack())
      const { page, faults } = await watchPage(await stack().contextOf('admin'), stack().url)
      const open = (path: string) => page.goto(`${stack().url}/v/${vaultCode}${path}`)
      await open(`/deposits/${depositId}`)
      const lost = page.getByRole('region', { name: 'Lost by the chain' })
      await lost.getByText(/^3 .* was taken back from the address/).waitFor()
      await lost.getByText(/^9 .* had been spent or reserved/).waitFor()
      await page.getByText('Failed', { exact: true }).waitFor()
      expect(await axeViolations(page)).toEqual([])
      await open(`/addresses/${addressId}`)
      await page
        .getByRole('region', { name: 'Exposure' })
        .getByText(/^This address is exposed by 9 /)
        .waitFor()
      expect(await axeViolations(page)).toEqual([])
      await open('')
      await page.getByText(/^Exposed by 9 /).waitFor()
      await open('/books?part=reconciliation')
      await page.getByRole('columnheader', { name: 'Exposure' }).waitFor()
      const sender = await watchPage(await stack().contextOf('treasurer'), stack().url)
      await sender.page.goto(`${stack().url}/v/${vaultCode}/send?from=${addressId}`)
      await sender.page.getByRole('combobox', { name: 'To', exact: true }).fill(stranger)
      await sender.page.getByLabel('Amount in').fill('1')
      await sender.page
        .getByText(/sends nothing until its exposure is covered/)
        .first()
        .waitFor()
      await restore()
      await open(`/addresses/${addressId}`)
      await page.getByRole('heading', { name: 'Balances' }).waitFor()
      expect(await page.getByRole('region', { name: 'Exposure' }).count()).toBe(0)
      expect([...faults, ...sender.faults]).toEqual([])
      for (const openPage of [page, sender.page]) await openPage.context().close()
    })
  })
}

/** The address of the demo, exposed by 9 of 12 TUSD that somebody else spent, until `restore` has it as it was before. */
async function prepared(stack: Stack) {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { id: addressId, network, address: toAddress, balances } = await operationsOf(stack)
  const { tokenId, available, decimals } = balances.find(({ asset }) => asset === 'TUSD')!
  const { items: tokens } = await (await stack.client('admin')).tokens.list({ limit: 100 }).page()
  const { contractAddress } = tokens.find(({ id }) => id === tokenId)!
  const txHash = `0x${randomBytes(32).toString('hex')}`
  const say = async (kind: string, occurrence: number) => {
    const tx = { network, asset: contractAddress, amount: '12', toAddress, txHash, occurrence }
    const answer = await fetch(`${stack.url}/webhooks/wallet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind, tx }),
    })
    return (await answer.json()) as { outcome: string; depositId: string }
  }
  const adjust = (raw: bigint) =>
    vault.adjustments.create({
      addressId,
      tokenId,
      amount: fromRaw(raw.toString(), decimals),
      reason: 'Spent elsewhere',
    })
  const unit = 10n ** BigInt(decimals)
  const { depositId } = await say('TOPUP', 0)
  await adjust(-(BigInt(available) + 9n * unit))
  expect((await say('DEPOSIT_ORPHANED', 0)).outcome).toBe('orphaned')
  const restore = async () => {
    expect((await say('TOPUP', 1)).outcome).toBe('credited')
    await adjust(BigInt(available) - 3n * unit)
  }
  return { depositId, addressId, restore }
}
