import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { HoldBar } from '../features/holds/hold-bar.tsx'
import { vaultQuery } from '../features/vault-settings/queries.ts'
import { SettingsPage } from '../features/vault-settings/settings-page.tsx'

export const Route = createFileRoute('/v/$code/settings')({ component: Settings })

function Settings() {
  const { code } = Route.useParams()
  const { data: vault } = useQuery(vaultQuery(code))
  return (
    <>
      {vault !== undefined && <HoldBar code={code} subject={{ type: 'vault', id: vault.id }} name={vault.name} />}
      <SettingsPage key={code} code={code} />
    </>
  )
}
