import type { Token } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { latest } from '../../lib/images.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { tokensQuery } from './queries.ts'
import { TokenForm } from './token-form.tsx'

/** The registry of tokens. Deposits of an unknown or disabled token are not credited. */
export function Tokens({ onRates }: { onRates: (tokenId: string) => void }) {
  const [search, setSearch] = useState('')
  const [edited, setEdited] = useState<Token | 'new' | null>(null)
  const query = useInfiniteQuery(tokensQuery(useDeferredValue(search.trim())))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-4">
        <TextField
          label={t('Search')}
          type="search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <Button look="primary" className="mb-4" icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          {t('New token')}
        </Button>
      </div>
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        empty={<p>{t('There is no token yet. Register the coin of a network first: a token without a contract.')}</p>}
        clearFilter={search === '' ? undefined : () => setSearch('')}
      >
        <Card>
          <DataTable
            caption={t('Tokens')}
            columns={useColumns(setEdited, onRates)}
            rows={rows}
            rowKey={({ id }) => id}
            more={query}
          />
        </Card>
      </ListState>
      <Sheet
        title={edited === 'new' ? t('New token') : t('Change the token')}
        open={edited !== null}
        onClose={() => setEdited(null)}
      >
        {edited !== null && (
          <TokenForm token={edited === 'new' ? null : latest(rows, edited)} onDone={() => setEdited(null)} />
        )}
      </Sheet>
    </>
  )
}

function useColumns(onEdit: (token: Token) => void, onRates: (tokenId: string) => void): Column<Token>[] {
  return [
    {
      id: 'symbol',
      header: t('Token'),
      cell: ({ symbol, name, network, logoUri }) => (
        <div className="flex items-center gap-2">
          <Avatar name={symbol} image={logoUri} />
          <div>
            <span className="font-medium">{symbol}</span> <span className="text-quiet">{`${name} · ${network}`}</span>
          </div>
        </div>
      ),
    },
    {
      id: 'contract',
      header: t('Contract'),
      cell: ({ contractAddress }) =>
        contractAddress === null ? (
          <span className="text-quiet">{t('Coin of the network')}</span>
        ) : (
          <Address address={contractAddress} />
        ),
    },
    { id: 'decimals', header: t('Decimals'), align: 'end', cell: ({ decimals }) => decimals },
    { id: 'state', header: t('State'), cell: (token) => <Switch token={token} /> },
    {
      id: 'actions',
      header: t('Actions'),
      cell: (token) => (
        <div className="flex flex-wrap gap-1">
          <Button look="quiet" onClick={() => onEdit(token)} aria-label={t('Change {name}', { name: token.symbol })}>
            {t('Change')}
          </Button>
          <Button
            look="quiet"
            onClick={() => onRates(token.id)}
            aria-label={t('Rates of {name}', { name: token.symbol })}
          >
            {t('Rates')}
          </Button>
        </div>
      ),
    },
  ]
}

/** Enables or disables a token. A disabled token is neither credited nor sent. */
function Switch({ token }: { token: Token }) {
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  const toggle = useMutation({
    mutationFn: () => strongroom.tokens.update(token.id, { enabled: !token.enabled }),
    onSuccess: ({ value }) => {
      void client.invalidateQueries({ queryKey: ['tokens'] })
      const { enabled, symbol } = value ?? token
      announce(enabled ? t('{name} is on.', { name: symbol }) : t('{name} is off.', { name: symbol }))
      setAsking(false)
    },
  })
  return (
    <div className="flex flex-wrap items-center gap-1">
      <Badge tone={token.enabled ? 'good' : 'neutral'}>{token.enabled ? t('On') : t('Off')}</Badge>
      <Button look="quiet" busy={toggle.isPending} onClick={() => (token.enabled ? setAsking(true) : toggle.mutate())}>
        {token.enabled ? t('Switch off') : t('Switch on')}
      </Button>
      <Sheet title={t('Switch off {name}?', { name: token.symbol })} open={asking} onClose={() => setAsking(false)}>
        <p className="mb-4">
          {t(
            'Nobody can send it then, in any vault, and what arrives of it is not credited. Balances stay as they are.',
          )}
        </p>
        {toggle.isError && <Failed error={toggle.error} retry={() => toggle.mutate()} />}
        <Button look="danger" busy={toggle.isPending} onClick={() => toggle.mutate()}>
          {t('Switch off')}
        </Button>
      </Sheet>
    </div>
  )
}
