import { createFileRoute } from '@tanstack/react-router'
import { t } from '../lib/language.ts'
import { Page } from '../ui/page.tsx'

export const Route = createFileRoute('/v/$code/')({
  component: () => <Page title={t('Home')}>{null}</Page>,
})
