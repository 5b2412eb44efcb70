import type { LedgerEntry } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Empty, Failed, ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { addressOptions, tokenOptions } from '../reports/queries.ts'
import type { BooksProps } from './parts.ts'
import { type AccountFilter, entriesQuery, pastBalanceQuery } from './queries.ts'

/** The entries of an account, newest first, with the balance after each entry. */
export function Entries({ code, search, change }: BooksProps) {
  const account: AccountFilter = {
    addressId: search.addressId ?? '',
    tokenId: search.tokenId ?? '',
    purpose: search.purpose ?? 'available',
  }
  const query = useInfiniteQuery(entriesQuery(code, account))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const isChosen = account.addressId !== '' && account.tokenId !== ''
  return (
    <>
      <Card>
        <div className="grid gap-x-4 md:grid-cols-3">
          <AccountFields code={code} addressId={account.addressId} tokenId={account.tokenId} change={change} />
          <SelectField
            label={t('Account')}
            value={account.purpose}
            onChange={({ target }) => change({ purpose: target.value as AccountFilter['purpose'] })}
          >
            <option value="available">{t('Available')}</option>
            <option value="reserved">{t('Reserved')}</option>
          </SelectField>
        </div>
        {isChosen && <PastBalance code={code} account={account} />}
      </Card>
      {isChosen ? (
        <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('This account has no entries.')}</p>}>
          <Card title={t('Entries')}>
            <DataTable caption={t('Entries')} columns={columns(code)} rows={rows} rowKey={entryKey} more={query} />
          </Card>
        </ListState>
      ) : (
        <Empty>
          <p>{t('Choose an address and a token to see the entries of its account.')}</p>
        </Empty>
      )}
    </>
  )
}

type AccountFieldsProps = {
  code: string
  addressId: string
  tokenId: string
  change: (changed: { addressId?: string; tokenId?: string }) => void
}

/** An address of the vault and a token. */
export function AccountFields({ code, addressId, tokenId, change }: AccountFieldsProps) {
  const { data: addresses } = useQuery(addressOptions(code))
  const { data: tokens } = useQuery(tokenOptions)
  return (
    <>
      <SelectField
        label={t('Address')}
        value={addressId}
        onChange={({ target }) => change({ addressId: target.value })}
        required
      >
        <option value="">{t('Choose')}</option>
        {addresses?.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t('Token')}
        value={tokenId}
        onChange={({ target }) => change({ tokenId: target.value })}
        required
      >
        <option value="">{t('Choose')}</option>
        {tokens?.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
    </>
  )
}

function PastBalance({ code, account }: { code: string; account: AccountFilter }) {
  const [at, setAt] = useState('')
  const instant = at === '' || Number.isNaN(new Date(at).getTime()) ? null : new Date(at).toISOString()
  const { data, isError, error, refetch } = useQuery(pastBalanceQuery(code, account, instant))
  return (
    <div className="flex flex-wrap items-end gap-x-4">
      <TextField
        label={t('Balance at')}
        type="datetime-local"
        value={at}
        onChange={({ target }) => setAt(target.value)}
      />
      {instant !== null && data !== undefined && (
        <p className="mb-4 pb-1.5 font-medium" role="status">
          <Amount decimal={data.balanceDecimal} unit={data.asset} />
        </p>
      )}
      {isError && <Failed error={error} retry={() => refetch()} />}
    </div>
  )
}

function entryKey({ id }: LedgerEntry): string {
  return id
}

function columns(code: string): Column<LedgerEntry>[] {
  return [
    {
      id: 'at',
      header: t('When'),
      cell: ({ createdAt }) => <time title={formatTimeInFull(createdAt)}>{formatTime(createdAt)}</time>,
    },
    { id: 'kind', header: t('What'), cell: (entry) => <Kind code={code} entry={entry} /> },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: ({ amountDecimal, asset }) => <Amount decimal={amountDecimal} unit={asset} />,
    },
    {
      id: 'balance',
      header: t('Balance'),
      align: 'end',
      cell: ({ balanceDecimal, asset }) => <Amount decimal={balanceDecimal} unit={asset} />,
    },
  ]
}

/** The kinds whose entries belong to an operation, which has a page. */
const ofOperations = new Set(['deposit', 'correct', 'reserve', 'settle', 'release', 'fee'])

function Kind({ code, entry: { kind, operationId } }: { code: string; entry: LedgerEntry }) {
  const words = {
    deposit: t('Received'),
    reserve: t('Reserved'),
    settle: t('Paid'),
    release: t('Released'),
    fee: t('Network fee'),
    adjust: t('Adjustment'),
    hold: t('Deposit held'),
    hold_release: t('Hold released'),
    correct: t('Deposit corrected'),
    orphan: t('Deposit lost by the chain'),
    orphan_return: t('Lost deposit came back'),
    cover: t('Exposure covered'),
  }
  if (!ofOperations.has(kind)) return words[kind]
  const path = `/v/${code}/${kind === 'deposit' || kind === 'correct' ? 'deposits' : 'transfers'}/${operationId}`
  return (
    <Link to={path as '/'} className="text-accent underline">
      {words[kind]}
    </Link>
  )
}
