// Pays the payments of a file: [{ "reference": "salary-2026-01-17", "toAddress": "0x…", "token": "TUSD", "amount": "25"
// }]
import { readFileSync } from 'node:fs'
import { StrongroomError } from '@strongroom/sdk'
import { argument, vault } from './connect.js'

/** @type {{ reference: string, toAddress: string, token: string, amount: string }[]} */
const payouts = JSON.parse(readFileSync(argument(1, 'payouts.json'), 'utf8'))
const [source] = (await vault.addresses.list({ limit: 1 }).page()).items
if (source === undefined) throw new Error('The caller has no address to pay from')

for (const { reference, ...payout } of payouts) {
  try {
    // The key contains the reference, so that a second start of this program within 24 hours pays nothing twice.
    const transfer = await vault.transfers.create(
      { ...payout, fromAddressId: source.id, metadata: { paymentPurpose: reference } },
      { idempotencyKey: `payout-${reference}` },
    )
    const { status, failureReason } = await vault.transfers.wait(transfer.id, { until: 'awaiting_approval' })
    console.log(reference, transfer.id, status, failureReason ?? '')
    if (status === 'failed') process.exitCode = 1
  } catch (error) {
    if (!(error instanceof StrongroomError)) throw error
    console.log(reference, 'refused', error.message)
    process.exitCode = 1
  }
}
