import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import { parseStoredEvent } from './parse-event.ts'
import type { DepositRow, UncreditedRow } from './queries.ts'
import type { Deposit, UncreditedEvent } from './schema.ts'

export function toDeposit(row: DepositRow): Static<typeof Deposit> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    addressId: row.address_id,
    address: { id: row.address_id, address: row.address, label: row.label },
    network: row.network,
    tokenId: row.token_id,
    asset: row.token_code,
    assetSymbol: row.token_symbol,
    contractAddress: row.contract_address,
    amount: row.amount,
    amountDecimal: formatDecimal(row.amount, row.decimals),
    txHash: row.tx_hash,
    index: row.tx_index,
    fromAddress: row.from_address,
    counterparty:
      row.counterparty_id === null
        ? null
        : { id: row.counterparty_id, name: row.counterparty_name!, kind: row.counterparty_kind! },
    counterpartyAddressId: row.counterparty_address_id,
    flowType: row.flow_type,
    usdRate: row.usd_rate,
    usdRateAsOf: row.usd_rate_as_of?.toISOString() ?? null,
    usdRateSource: row.usd_rate_source,
    usdValue: row.usd_value,
    isDust: row.is_dust,
    metadata: { category: row.category, tags: row.tags, paymentPurpose: row.payment_purpose, note: row.note },
    blockchainAt: row.blockchain_at?.toISOString() ?? null,
    outcome: row.outcome,
    reason: row.reason,
    createdAt: row.created_at.toISOString(),
  }
}

export function toUncreditedEvent(row: UncreditedRow): Static<typeof UncreditedEvent> {
  const event = parseStoredEvent(row.body)
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
    blockchainAt: event?.blockTime?.toISOString() ?? null,
    createdAt: row.received_at.toISOString(),
  }
}
