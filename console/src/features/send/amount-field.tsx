import { type CheckedRecipient, fromRaw, type Token, type TransferOrder } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { messageOf } from '../../lib/error-words.ts'
import { t } from '../../lib/language.ts'
import { spendsOutputs, useNetwork } from '../../lib/networks.ts'
import { queryClient } from '../../lib/query-client.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { tokensQuery } from '../addresses/queries.ts'
import { amountOf, balanceOf, type Draft, orderOf } from './draft.ts'
import { previewQuery } from './queries.ts'
import { feeOfAll, spendable } from './spendable.ts'

type Props = {
  code: string
  draft: Draft
  check: CheckedRecipient | null
  change: (part: Partial<Draft>) => void
  error: string | null
}

/** The amount, and the button "All" for the largest amount that can be sent. */
export function AmountField({ code, draft, check, change, error }: Props) {
  const tokens = useQuery(tokensQuery)
  const hasOutputs = spendsOutputs(useNetwork(draft.source?.network))
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const balance = balanceOf(draft)
  const token = tokens.data?.find(({ id }) => id === balance?.tokenId)
  const fillIn = async () => {
    if (balance === null || token === undefined) return
    setBusy(true)
    setFault(null)
    try {
      const isNativeCoin = token.contractAddress === null
      const feeOf = (amount: bigint) => estimate(code, draft, check, fromRaw(amount, token))
      const fee = !isNativeCoin ? null : hasOutputs ? await feeOfAll(BigInt(balance.available), feeOf) : await feeOf(1n)
      const most = spendable(balance, { isNativeCoin, fee })
      if (most === null) setFault(t('The fee is unknown at the moment, and so is the largest amount.'))
      else change({ amountText: formatAmount(most) })
    } catch (thrown) {
      setFault(messageOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  const isWrong = balance !== null && draft.amountText.trim() !== '' && amountOf(draft) === null
  const wrong = isWrong ? t('Not an amount with at most {decimals} decimals.', { decimals: balance.decimals }) : null
  return (
    <div className="flex items-start gap-2">
      <div className="grow">
        <TextField
          label={balance === null ? t('Amount') : t('Amount in {symbol}', { symbol: balance.symbol })}
          inputMode="decimal"
          autoComplete="off"
          value={draft.amountText}
          error={fault ?? wrong ?? error}
          onChange={({ target }) => {
            setFault(null)
            change({ amountText: target.value })
          }}
          hint={
            token?.contractAddress === null
              ? hasOutputs
                ? t('"All" keeps twice the estimated fee, because the price of block space changes.')
                : t('"All" keeps twice the estimated fee, because the price of gas changes.')
              : undefined
          }
        />
      </div>
      <Button className="mt-7" busy={busy} onClick={fillIn} disabledBecause={whyNotAll(draft, token, check)}>
        {t('All')}
      </Button>
    </div>
  )
}

function whyNotAll(draft: Draft, token: Token | undefined, check: CheckedRecipient | null): string | null {
  if (balanceOf(draft) === null || token === undefined) return t('Choose first which address pays.')
  const isKnown = orderOf({ ...draft, amountText: '1', maxFeeText: '' }, check, null) !== null
  return token.contractAddress === null && !isKnown ? t('Choose the recipient first: the fee depends on it.') : null
}

/** Estimates the fee of an amount. On chains with gas, every amount has the same fee. */
async function estimate(
  code: string,
  draft: Draft,
  check: CheckedRecipient | null,
  amount: string,
): Promise<string | null> {
  const order = orderOf({ ...draft, amountText: '1', maxFeeText: '' }, check, null) as TransferOrder
  const { fee } = await queryClient.fetchQuery(previewQuery(code, { ...order, amount }))
  return fee?.amount ?? null
}
