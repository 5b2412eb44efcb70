import type { Token } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { tokensQuery } from '../addresses/queries.ts'
import { type Draft, feeLimitOf } from './draft.ts'

type Props = {
  draft: Draft
  coin: Token | null
  change: (part: Partial<Draft>) => void
  error: string | null
}

/** The speed of the transfer, and the limit of its fee. */
export function FeeFields({ draft, coin, change, error }: Props) {
  const isWrong = feeLimitOf(draft, coin) === null
  return (
    <details className="mb-4">
      <summary className="cursor-pointer text-accent">{t('Network fee')}</summary>
      <div className="mt-3">
        <SelectField
          label={t('Speed')}
          value={draft.feeLevel}
          onChange={({ target }) => change({ feeLevel: target.value as Draft['feeLevel'] })}
        >
          <option value="">{t('usual')}</option>
          <option value="low">{t('slow and cheap')}</option>
          <option value="high">{t('fast')}</option>
        </SelectField>
        {coin !== null && (
          <TextField
            label={t('Fee at most, in {symbol}', { symbol: coin.symbol })}
            inputMode="decimal"
            autoComplete="off"
            value={draft.maxFeeText}
            error={isWrong ? t('Not an amount above zero.') : error}
            hint={t('A higher fee is never paid. While the network asks for more, the transfer waits.')}
            onChange={({ target }) => change({ maxFeeText: target.value })}
          />
        )}
      </div>
    </details>
  )
}

/** Returns the coin in which the network of the paying address takes its fees. */
export function useFeeCoin({ source }: Draft): Token | null {
  const { data: tokens = [] } = useQuery(tokensQuery)
  return tokens.find((token) => token.network === source?.network && token.contractAddress === null) ?? null
}
