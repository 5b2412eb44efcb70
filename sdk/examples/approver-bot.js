// Approves transfers to known counterparties up to a limit, with the service token of an approver. Run it every minute.
import { compare, StrongroomError } from '@strongroom/sdk'
import { argument, vault } from './connect.js'

const limit = argument(1, 'LIMIT')

for await (const { id, counterparty, amountDecimal } of vault.history.list({ awaitingMyApproval: true, limit: 100 })) {
  if (counterparty === null || compare(amountDecimal, limit) > 0) {
    console.log(id, 'left to people')
    continue
  }
  try {
    const { status } = await vault.transfers.approve(id, { comment: `Known recipient, at most ${limit}` })
    console.log(id, 'approved', status)
  } catch (error) {
    // Another approver may have decided meanwhile.
    if (!(error instanceof StrongroomError) || error.status !== 409) throw error
    console.log(id, 'not approved', error.message)
  }
}
