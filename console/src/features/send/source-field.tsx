import type { Address as OwnAddress } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { SelectField } from '../../ui/field.tsx'
import { addressSearchQuery } from '../addresses/queries.ts'
import { balanceOf, type Draft } from './draft.ts'

type Props = { code: string; draft: Draft; change: (part: Partial<Draft>) => void }

/** The paying address with its balances, and the token. */
export function SourceField({ code, draft, change }: Props) {
  const search = useDebounced(draft.source === null ? draft.sourceText.trim() : '')
  const found = useQuery(addressSearchQuery(code, search, 50))
  const options = (found.data ?? []).filter(({ access }) => access.canTransfer)
  const balance = balanceOf(draft)
  return (
    <>
      <Combobox
        label={t('From')}
        placeholder={t('Name or address')}
        text={draft.sourceText}
        onText={(sourceText) => change({ sourceText, source: null, tokenId: null })}
        options={options}
        optionKey={({ id }) => id}
        busy={found.isPending}
        nothing={t('No address that you may send from fits.')}
        onChoose={(source) => change({ source, sourceText: nameOfAddress(source), tokenId: null })}
        draw={(address) => <SourceOption address={address} />}
        hint={draft.source === null ? undefined : <Address address={draft.source.address} />}
      />
      {draft.source !== null && balance !== null && (
        <SelectField
          label={t('Token')}
          value={balance.tokenId}
          onChange={({ target }) => change({ tokenId: target.value })}
          hint={
            <>
              {t('Available')}: <Amount decimal={balance.availableDecimal} unit={balance.symbol} />
            </>
          }
        >
          {draft.source.balances.map(({ tokenId, symbol, asset }) => (
            <option key={tokenId} value={tokenId}>
              {symbol === asset ? symbol : `${symbol} (${asset})`}
            </option>
          ))}
        </SelectField>
      )}
      {draft.source !== null && balance === null && (
        <p className="mb-4 text-warn">{t('This address holds nothing that could be sent.')}</p>
      )}
    </>
  )
}

export function nameOfAddress({ label, address }: OwnAddress): string {
  return label ?? address
}

function SourceOption({ address: { label, address, balances } }: { address: OwnAddress }) {
  const held = balances.filter(({ available }) => available !== '0')
  return (
    <span className="grid gap-0.5">
      <Address address={address} name={label} />
      <span className="flex flex-wrap gap-x-4 text-[0.8125rem]">
        {held.length === 0 && <span className="text-quiet">{t('empty')}</span>}
        {held.slice(0, 3).map(({ tokenId, availableDecimal, symbol }) => (
          <Amount key={tokenId} decimal={availableDecimal} unit={symbol} />
        ))}
      </span>
    </span>
  )
}
