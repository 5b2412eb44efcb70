import { createFileRoute, Link } from '@tanstack/react-router'
import { VerifyPage } from '../features/verify/verify-page.tsx'
import { t } from '../lib/language.ts'

export const Route = createFileRoute('/verify')({
  component: () => (
    <main className="mx-auto max-w-3xl p-4 pb-12 md:p-8">
      <Link to="/" preload={false} className="mb-6 flex items-center gap-2 font-semibold">
        <img src="/assets/icon.svg" alt={t('To the start')} width="24" height="24" /> Strongroom
      </Link>
      <VerifyPage />
    </main>
  ),
})
