import type { Address } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { zone } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { pastBalanceQuery } from './queries.ts'

/** The balances of the address at the end of a day of the reader. */
export function PastBalance({ code, address }: { code: string; address: Address }) {
  const [day, setDay] = useState('')
  const [tokenId, setTokenId] = useState(address.tokenId ?? address.balances[0]?.tokenId ?? '')
  const isWhole = /^\d{4}-\d{2}-\d{2}$/.test(day)
  const at = isWhole ? endOf(day) : ''
  const balance = useQuery({ ...pastBalanceQuery(code, address.id, tokenId, at), enabled: isWhole && tokenId !== '' })
  const symbol = address.balances.find((entry) => entry.tokenId === tokenId)?.symbol
  if (address.balances.length === 0) return null
  return (
    <Card title={t('Balance on a day')}>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField
          label={t('Day')}
          type="date"
          value={day}
          onChange={({ target }) => setDay(target.value)}
          hint={t('At its end in {zone}.', { zone })}
        />
        <SelectField label={t('Token')} value={tokenId} onChange={({ target }) => setTokenId(target.value)}>
          {address.balances.map((entry) => (
            <option key={entry.tokenId} value={entry.tokenId}>
              {entry.symbol}
            </option>
          ))}
        </SelectField>
      </div>
      {isWhole && (
        <DetailState query={balance}>
          {balance.data && (
            <p role="status" className="text-lg font-semibold">
              <Amount decimal={balance.data.balanceDecimal} unit={symbol ?? balance.data.asset} />
            </p>
          )}
        </DetailState>
      )}
    </Card>
  )
}

/** Returns the last instant of a day of the reader, but not later than now. */
function endOf(day: string): string {
  const end = new Date(`${day}T23:59:59.999`)
  return new Date(Math.min(end.getTime(), Date.now() - 1_000)).toISOString()
}
