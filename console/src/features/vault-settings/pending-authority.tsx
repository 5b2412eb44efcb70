import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { authorityQuery, type VaultAuthority, vaultQuery } from './queries.ts'

/** Loaded on demand, because few people ever cancel a version. */
const CancelAuthority = lazy(() => import('./cancel-authority.tsx'))

/** Shows a pending version of the authority on every page of the vault, until it is in force or cancelled. */
export function PendingAuthorityNotice({ code }: { code: string }) {
  const vault = useQuery(vaultQuery(code)).data
  return vault === undefined || vault.protection === 'off' ? null : <OfVault vault={vault} />
}

function OfVault({ vault: { code } }: { vault: Vault }) {
  const authority = useQuery({ ...authorityQuery(code), staleTime: 60_000, refetchInterval: 300_000 }).data
  if (!authority?.pending) return null
  return (
    <div role="status" className="mb-4 rounded-lg border border-warn p-4">
      <PendingAuthority code={code} authority={authority} />
    </div>
  )
}

/** The pending version, and the button to cancel it for people who may. */
export function PendingAuthority({ code, authority }: { code: string; authority: VaultAuthority }) {
  const user = useQuery(sessionQuery).data?.user.id
  // Keeps the shown version, so that a later answer does not change what is confirmed.
  const [confirmed, setConfirmed] = useState<VaultAuthority | null>(null)
  const { change, groups } = authority
  const mayCancel = groups.some(
    ({ id, persons }) => id === change.group && user !== undefined && persons.includes(user),
  )
  return (
    <>
      <PendingFacts authority={authority} />
      {mayCancel && (
        <Button className="mt-3" look="danger" onClick={() => setConfirmed(authority)}>
          {t('Cancel this version …')}
        </Button>
      )}
      <Sheet title={t('Cancel the next authority?')} open={confirmed !== null} onClose={() => setConfirmed(null)}>
        <Suspense>
          {confirmed !== null && (
            <CancelAuthority code={code} authority={confirmed} onDone={() => setConfirmed(null)}>
              <PendingFacts authority={confirmed} />
            </CancelAuthority>
          )}
        </Suspense>
      </Sheet>
    </>
  )
}

/** The pending version, the time until which it can be cancelled, and the number of people who must cancel it. */
export function PendingFacts({ authority: { pending, votesToCancel, change } }: { authority: VaultAuthority }) {
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
          'Until then, {votes} of {group} can cancel it with their signatures. Compare the fingerprint with the one that the wallet service itself shows.',
          { votes: votesToCancel, group: change.group },
        )}
      </p>
      <div className="mt-2">
        <Fingerprint hash={pending.hash} />
      </div>
      {pending.trustsServicePage && <ServicePageTrusted />}
    </>
  )
}

/** A warning about a version that trusts the pages of this service, which an attacker may take over. */
export const ServicePageTrusted = () => (
  <p className="mt-2 text-warn">
    {t(
      'This version trusts the pages of this service (trustsServicePage): an attacker who takes over this service can show people one order and have another order signed.',
    )}
  </p>
)
