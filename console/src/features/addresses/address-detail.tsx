import type { Address as VaultAddress } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { FileText, Pencil, Send } from 'lucide-react'
import { useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { AddressSharing } from './address-sharing.tsx'
import { EditAddress } from './edit-address.tsx'
import { PastBalance } from './past-balance.tsx'
import { Receive } from './receive.tsx'

/** The page of an address: its balances, the QR code, its name, and the people who may use it. */
export function AddressDetail({ code, address }: { code: string; address: VaultAddress }) {
  const [editing, edit] = useState(false)
  const { access } = address
  const mayEdit = access.isOwner || access.isAdmin
  return (
    <Page
      title={address.label ?? t('Address')}
      actions={
        <>
          {access.canTransfer && (
            <Link to="/v/$code/send" params={{ code }} search={{ from: address.id }} className={buttonClass('primary')}>
              <Send size={16} aria-hidden /> {t('Send')}
            </Link>
          )}
          <Link
            to={`/v/${code}/reports/account_statement` as '/'}
            search={{ addressId: address.id, tokenId: address.tokenId ?? address.balances[0]?.tokenId } as never}
            className={buttonClass()}
          >
            <FileText size={16} aria-hidden /> {t('Statement')}
          </Link>
          {mayEdit && (
            <Button icon={<Pencil size={16} aria-hidden />} onClick={() => edit(true)}>
              {t('Edit')}
            </Button>
          )}
        </>
      }
    >
      <Exposure address={address} />
      <div className="grid items-start gap-x-4 lg:grid-cols-2">
        <div>
          <BalanceTable address={address} />
          <PastBalance code={code} address={address} />
        </div>
        <div>
          <Receive address={address.address} network={address.network} />
          <About address={address} />
        </div>
      </div>
      {mayEdit && <AddressSharing code={code} address={address} />}
      <Sheet title={t('Edit the address')} open={editing} onClose={() => edit(false)}>
        <EditAddress code={code} address={address} done={() => edit(false)} />
      </Sheet>
    </Page>
  )
}

/** Explains that the address cannot send, because it spent deposits that the chain took back. */
function Exposure({ address: { balances } }: { address: VaultAddress }) {
  const exposed = balances.filter(({ exposure }) => exposure !== '0')
  if (exposed.length === 0) return null
  const sums = exposed.map(({ exposureDecimal, symbol }) => `${formatAmount(exposureDecimal)} ${symbol}`)
  return (
    <section aria-label={t('Exposure')} className="mb-4 rounded-md bg-bad-soft p-3 text-bad">
      <p className="font-medium">{t('This address is exposed by {sums}.', { sums: sums.join(', ') })}</p>
      <p>
        {t(
          'The chain took back deposits that were already spent. It sends nothing until new deposits have covered that.',
        )}
      </p>
    </section>
  )
}

function BalanceTable({ address: { balances } }: { address: VaultAddress }) {
  return (
    <Card title={t('Balances')}>
      {balances.length === 0 ? (
        <p className="text-quiet">{t('Nothing has arrived here yet.')}</p>
      ) : (
        <table className="w-full">
          <thead>
            <tr className="border-b border-line text-left text-[0.8125rem] text-quiet">
              <th scope="col" className="py-2 font-medium">
                {t('Token')}
              </th>
              <th scope="col" className="py-2 text-right font-medium">
                {t('Available')}
              </th>
              <th scope="col" className="py-2 text-right font-medium">
                {t('Reserved')}
              </th>
            </tr>
          </thead>
          <tbody>
            {balances.map(({ tokenId, symbol, availableDecimal, reservedDecimal }) => (
              <tr key={tokenId} className="border-b border-line last:border-0">
                <th scope="row" className="py-2 text-left font-medium">
                  {symbol}
                </th>
                <td className="py-2 text-right">
                  <Amount decimal={availableDecimal} unit={symbol} />
                </td>
                <td className="py-2 text-right">
                  <Amount decimal={reservedDecimal} unit={symbol} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

function About({ address }: { address: VaultAddress }) {
  const { access, owner, assetSymbol, derivationPath, createdAt, description, tagsJson, network } = address
  return (
    <Card title={t('About it')}>
      <Facts
        facts={[
          [t('Address'), <Address key="address" address={address.address} />],
          [t('Description'), description],
          [t('Tags'), tagsJson.join(', ')],
          [t('Owner'), access.isOwner ? t('you') : nameOf(owner)],
          [t('Network'), network],
          [t('Main token'), assetSymbol],
          [
            t('Path of its key'),
            <span key="path" className="code">
              {derivationPath}
            </span>,
          ],
          [
            t('Created'),
            <time key="created" dateTime={createdAt} title={formatTimeInFull(createdAt)}>
              {formatTime(createdAt)}
            </time>,
          ],
        ]}
      />
    </Card>
  )
}
