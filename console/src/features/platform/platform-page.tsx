import { t } from '../../lib/language.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { BreakGlassPeople } from './break-glass-people.tsx'
import { Directories } from './directories.tsx'
import { Health } from './health.tsx'
import { IdentityProviders } from './identity-providers.tsx'
import { Networks } from './networks.tsx'
import { type Part, type PlatformProps, parts } from './parts.ts'
import { People } from './people.tsx'
import { PlatformChanges } from './platform-changes.tsx'
import { Rates } from './rates.tsx'
import { Tokens } from './tokens.tsx'
import { Vaults } from './vaults.tsx'
import { WalletEvents } from './wallet-events.tsx'

/** The settings and data that all vaults of this installation share. */
export function PlatformPage({ search, change, record }: PlatformProps) {
  const part = search.part ?? 'vaults'
  const labels: Record<Part, string> = {
    vaults: t('Vaults'),
    people: t('People'),
    networks: t('Networks'),
    tokens: t('Tokens'),
    rates: t('Rates'),
    'sign-in': t('Sign-in'),
    directory: t('Directory'),
    changes: t('Changes'),
    events: t('Wallet events'),
    record: t('Audit'),
    health: t('Health'),
  }
  return (
    <Page title={t('Platform')}>
      <Tabs
        label={t('Parts of the platform')}
        tabs={parts.map((key) => ({ key, label: labels[key] }))}
        current={part}
        onChoose={(key) => change({ part: key as Part })}
      >
        {part === 'vaults' && <Vaults />}
        {part === 'people' && <People />}
        {part === 'networks' && <Networks />}
        {part === 'tokens' && <Tokens onRates={(tokenId) => change({ part: 'rates', tokenId })} />}
        {part === 'rates' && <Rates tokenId={search.tokenId ?? ''} onToken={(tokenId) => change({ tokenId })} />}
        {part === 'sign-in' && (
          <>
            <IdentityProviders />
            <BreakGlassPeople />
          </>
        )}
        {part === 'directory' && <Directories />}
        {part === 'changes' && <PlatformChanges />}
        {part === 'events' && <WalletEvents />}
        {part === 'record' && record}
        {part === 'health' && <Health />}
      </Tabs>
    </Page>
  )
}
