import { createFileRoute } from '@tanstack/react-router'
import { SettingsPage } from '../features/vault-settings/settings-page.tsx'

export const Route = createFileRoute('/v/$code/settings')({
  component: () => <SettingsPage key={Route.useParams().code} code={Route.useParams().code} />,
})
