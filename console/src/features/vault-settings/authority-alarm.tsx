import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { findFallen, remember, type SeenAuthority } from '../../lib/authority-memory.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { vaultQuery } from './queries.ts'

/**
 * A red alarm if the authority of the vault was replaced by an older authority, according to the service or to the
 * memory of this browser. It stands on every page of the vault, so that nobody signs without seeing it.
 */
export function AuthorityAlarm({ code }: { code: string }) {
  const vault = useQuery(vaultQuery(code)).data
  if (vault === undefined || vault.protection === 'off') return null
  return <OfVault key={vault.id} vault={vault} />
}

function OfVault({ vault: { id, authority } }: { vault: Vault }) {
  const [, setCompared] = useState(false)
  const shown = authority ?? { version: 0, hash: null, alarmSince: null }
  const kept = findFallen(localStorage, id, shown)
  if (kept === null && shown.alarmSince === null) return null
  return (
    <div role="alert" className="mb-4 rounded-lg border border-bad p-4 text-bad">
      <p>
        {t(
          'The wallet service shows an older authority of this vault than before, or another authority with the same version number. Nothing is handed over to the wallet service. Sign nothing before you have compared the fingerprint with other members.',
        )}
      </p>
      <Line name={t('Shown now: version {version}', { version: shown.version })} authority={shown} />
      {kept !== null && (
        <>
          <Line name={t('Seen here before: version {version}', { version: kept.version })} authority={kept} />
          <Button
            className="mt-3"
            onClick={() => {
              remember(localStorage, id, shown)
              setCompared(true)
            }}
          >
            {t('We compared the fingerprint: it is correct')}
          </Button>
        </>
      )}
    </div>
  )
}

function Line({ name, authority: { hash } }: { name: string; authority: SeenAuthority }) {
  return (
    <div className="mt-2">
      {name} {hash !== null && <Fingerprint hash={hash} />}
    </div>
  )
}
