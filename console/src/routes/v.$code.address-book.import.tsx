import { createFileRoute } from '@tanstack/react-router'
import { ImportPage } from '../features/address-book/import-page.tsx'
import { t } from '../lib/language.ts'
import { Page } from '../ui/page.tsx'

export const Route = createFileRoute('/v/$code/address-book/import')({ component: Import })

function Import() {
  const { code } = Route.useParams()
  return (
    <Page title={t('Import into the address book')}>
      <ImportPage key={code} code={code} />
    </Page>
  )
}
