import { t } from '../../lib/language.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { AdjustmentForm } from './adjustment.tsx'
import { Entries } from './entries.tsx'
import { Quarantine, Uncredited } from './held.tsx'
import { type BooksProps, type Part, parts } from './parts.ts'
import { ReconciliationPart } from './reconciliation.tsx'
import { UnagreedAdjustments } from './unagreed.tsx'
import { VerificationPart } from './verification.tsx'

/** The books of a vault, and the wallet events that are not in the books. */
export function BooksPage({ code, search, change }: BooksProps) {
  const { isAdmin } = useViewer(code)
  // Auditors read the books and cannot change them.
  const open = parts.filter((part) => part !== 'adjust' || isAdmin)
  const part = open.find((name) => name === search.part) ?? 'reconciliation'
  const labels: Record<Part, string> = {
    reconciliation: t('Reconciliation'),
    entries: t('Entries'),
    held: t('Held deposits'),
    unmatched: t('Unmatched'),
    verification: t('Verification'),
    adjust: t('Adjust'),
  }
  return (
    <Page title={t('Books')}>
      <Tabs
        label={t('Parts of the books')}
        tabs={open.map((key) => ({ key, label: labels[key] }))}
        current={part}
        onChoose={(key) => change({ part: key as Part })}
      >
        {part === 'reconciliation' && <ReconciliationPart code={code} />}
        {part === 'entries' && <Entries code={code} search={search} change={change} />}
        {part === 'held' && <Quarantine code={code} />}
        {part === 'unmatched' && <Uncredited code={code} />}
        {part === 'verification' && <VerificationPart code={code} search={search} change={change} />}
        {part === 'adjust' && (
          <>
            <AdjustmentForm code={code} change={change} />
            <UnagreedAdjustments code={code} />
          </>
        )}
      </Tabs>
    </Page>
  )
}
