import { formatDecimal } from '../../../lib/money.ts'
import type { FlowType } from '../../../lib/operations.ts'
import type { CounterpartyKind } from '../../address-book/counterparties/queries.ts'
import type { RateColumns } from '../../registry/rates/queries.ts'

/** The columns that every list of operations shows. */
export type OperationColumns = Omit<RateColumns, 'usd_rate_as_of'> & {
  id: string
  network: string
  address_id: string
  token_id: string
  token_code: string
  token_symbol: string
  decimals: number
  amount: string
  flow_type: FlowType
  tx_hash: string | null
  counterparty_id: string | null
  counterparty_name: string | null
  usd_value: string | null
  /** The key of the category that was assigned first, among those that the viewer may see. */
  category: string | null
  tags: string[]
  payment_purpose: string | null
  note: string | null
  created_at: Date
}

/** The columns that a single operation shows in addition. */
export type DetailColumns = OperationColumns &
  RateColumns & {
    vault_id: string
    contract_address: string | null
    counterparty_address_id: string | null
    counterparty_kind: CounterpartyKind | null
  }

export function operationFields(row: OperationColumns) {
  return {
    id: row.id,
    network: row.network,
    tokenId: row.token_id,
    asset: row.token_code,
    assetSymbol: row.token_symbol,
    amount: row.amount,
    amountDecimal: formatDecimal(row.amount, row.decimals),
    flowType: row.flow_type,
    txHash: row.tx_hash,
    usdRate: row.usd_rate,
    usdRateSource: row.usd_rate_source,
    usdValue: row.usd_value,
    metadata: { category: row.category, tags: row.tags, paymentPurpose: row.payment_purpose, note: row.note },
    createdAt: row.created_at.toISOString(),
  }
}

export function detailFields(row: DetailColumns) {
  const { counterparty_id: id, counterparty_name: name, counterparty_kind: kind } = row
  return {
    ...operationFields(row),
    vaultId: row.vault_id,
    contractAddress: row.contract_address,
    counterparty: id === null ? null : { id, name: name!, kind: kind! },
    counterpartyAddressId: row.counterparty_address_id,
    usdRateAsOf: row.usd_rate_as_of?.toISOString() ?? null,
  }
}
