import type { Static } from 'typebox'
import { unmatchedHoursMax } from '../../../lib/limits.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { detailFields } from '../../operations/feed/present.ts'
import { parseStoredEvent } from './parse-event.ts'
import type { DepositRow, UncreditedRow } from './queries.ts'
import type { Deposit, UncreditedEvent } from './schema.ts'

export function toDeposit(row: DepositRow): Static<typeof Deposit> {
  return {
    ...detailFields(row),
    txHash: row.tx_hash,
    addressId: row.address_id,
    address: { id: row.address_id, address: row.address, label: row.label },
    index: row.tx_index,
    fromAddress: row.from_address,
    isDust: row.is_dust,
    blockchainAt: row.blockchain_at?.toISOString() ?? null,
    screening: row.screening,
    outcome: row.outcome,
    reason: row.reason,
    orphaned: row.orphan === null ? null : toOrphaned(row.orphan, row.decimals),
  }
}

function toOrphaned({ at, amount, taken }: NonNullable<DepositRow['orphan']>, decimals: number) {
  const exposed = (BigInt(amount) - BigInt(taken)).toString()
  return {
    orphanedAt: new Date(at).toISOString(),
    taken,
    takenDecimal: formatDecimal(taken, decimals),
    exposed,
    exposedDecimal: formatDecimal(exposed, decimals),
  }
}

export function toUncreditedEvent(row: UncreditedRow, now: Date): Static<typeof UncreditedEvent> {
  const isUnmatched = row.outcome === 'unmatched'
  const event = parseStoredEvent(row)
  return {
    id: row.id,
    vaultId: row.vault_id,
    outcome: row.outcome,
    reason: row.reason,
    network: event?.network ?? null,
    contractAddress: event?.contract ?? null,
    amountDecimal: event?.amountDecimal ?? null,
    toAddress: event?.toAddress ?? null,
    txHash: event?.txHash ?? null,
    index: event?.index ?? null,
    fromAddress: event?.fromAddress ?? null,
    misses: isUnmatched ? 'address' : null,
    isOrphaned: event?.kind === 'DEPOSIT_ORPHANED',
    isOverdue: isUnmatched && now.getTime() - row.received_at.getTime() > unmatchedHoursMax * 3_600_000,
    blockchainAt: event?.blockTime?.toISOString() ?? null,
    createdAt: row.received_at.toISOString(),
  }
}
