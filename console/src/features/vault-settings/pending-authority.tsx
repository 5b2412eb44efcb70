import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { authorityQuery, type VaultAuthority, vaultQuery } from './queries.ts'

/** A version of the authority that waits concerns everybody of the vault: it stands on every page until it is in force or cancelled. */
export function PendingAuthorityNotice({ code }: { code: string }) {
  const vault = useQuery(vaultQuery(code)).data
  return vault === undefined || vault.protection === 'off' ? null : <OfVault vault={vault} />
}

function OfVault({ vault: { code } }: { vault: Vault }) {
  const authority = useQuery({ ...authorityQuery(code), staleTime: 60_000, refetchInterval: 300_000 }).data
  if (!authority?.pending) return null
  return (
    <div role="status" className="mb-4 rounded-lg border border-warn p-4">
      <PendingAuthority authority={authority} />
    </div>
  )
}

/** The version that waits, until when it can be cancelled, and by how many. */
export function PendingAuthority({ authority: { pending, votesToCancel, change } }: { authority: VaultAuthority }) {
  if (pending === null) return null
  return (
    <>
      <p className="font-medium">
        {t('Version {version} of the authority is signed and comes into force on {at}.', {
          version: pending.version,
          at: formatTime(pending.inForceAt),
        })}
      </p>
      <p>
        {t(
          'Until then {votes} of {group} cancel it with their signatures. Compare the fingerprint with what the wallet service itself shows.',
          { votes: votesToCancel, group: change.group },
        )}
      </p>
      <Fingerprint hash={pending.hash} />
      {pending.trustsServicePage && <ServicePageTrusted />}
    </>
  )
}

/** Shown for each version whose keys fall with the service. */
export const ServicePageTrusted = () => (
  <p className="text-warn">
    {t(
      'It trusts the pages of this service (trustsServicePage): whoever takes over this service can show people one order and have another one signed.',
    )}
  </p>
)
