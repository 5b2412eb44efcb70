import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { zone } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Empty, Failed } from '../../ui/list-states.tsx'
import { Card, Facts, Page, TwoColumns } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { ExportsList } from './exports-list.tsx'
import { type Change, intervalIn, type ReportSearch } from './parameters.ts'
import { todayIn } from './period.ts'
import { orderArchive } from './queries.ts'
import { PeriodFields } from './settings.tsx'

type ArchiveProps = { code: string; search: ReportSearch; change: Change }

/** Exports the statements, the evidence and the seals of a period as one archive. */
export function AuditorArchive({ code, search, change }: ArchiveProps) {
  const { isAdmin, isAuditor } = useViewer(code)
  return (
    <Page title={t('Export for the auditor')}>
      <p className="-mt-3 mb-4 text-quiet">
        {t('One archive with everything about a period that an auditor checks, away from this service.')}
      </p>
      {isAdmin || isAuditor ? (
        <TwoColumns
          main={
            <>
              <ArchiveForm code={code} search={search} change={change} />
              <ExportsList code={code} only="auditor_archive" />
            </>
          }
          side={
            <>
              <Contents />
              <HowToCheck />
            </>
          }
        />
      ) : (
        <Empty>
          <p>{t('Only administrators and auditors of the vault may export for an auditor.')}</p>
        </Empty>
      )}
    </Page>
  )
}

function ArchiveForm({ code, search, change }: ArchiveProps) {
  // The key of this form's request: a repetition after a lost answer makes no second archive.
  const [key, setKey] = useState(() => newIdempotencyKey())
  const client = useQueryClient()
  const timezone = search.timezone ?? zone
  const { from, to } = intervalIn(search, timezone)
  const order = useMutation({
    mutationFn: () => orderArchive(code, { from, to, timezone }, key),
    onSuccess: () => {
      setKey(newIdempotencyKey())
      announce(t('The archive is being made.'))
      void client.invalidateQueries({ queryKey: ['reports', code, 'exports'] })
    },
  })
  const choose: Change = (changed) => {
    setKey(newIdempotencyKey())
    change(changed)
  }
  return (
    <Card>
      <form
        className="max-w-md"
        onSubmit={(event) => {
          event.preventDefault()
          if (!order.isPending) order.mutate()
        }}
      >
        <PeriodFields search={search} change={choose} />
        {to > todayIn(timezone) && (
          <p className="mb-4 text-warn">
            {t('The period has not ended: later operations will not be in the archive.')}
          </p>
        )}
        {order.isError && <Failed error={order.error} retry={() => order.mutate()} />}
        <Button type="submit" look="primary" busy={order.isPending}>
          {t('Make the archive')}
        </Button>
      </form>
    </Card>
  )
}

function Contents() {
  return (
    <Card title={t('Contents of the archive')}>
      <Facts
        facts={[
          [t('Statements'), t('Movement of assets, operations, gaps in their data, network fees, votes: CSV and PDF.')],
          [t('Accounts'), t('The statement of every account with a posting or a balance.')],
          [t('Evidence'), t('A file for each transfer, with its votes, records and postings.')],
          [t('Seals'), t('The signed seals of the audit log and of the ledger.')],
          [t('Verification'), t('The books of the vault, recomputed when the archive is made.')],
          [t('Sums'), t('The SHA-256 of each file, signed with the key of the service.')],
        ]}
      />
    </Card>
  )
}

const command = 'strongroom archive verify FILE'

function HowToCheck() {
  return (
    <Card title={t('Check the archive')}>
      <p className="mb-3 text-quiet">
        {t(
          'One command checks the archive, without this service and without a database. It says in a sentence what differs.',
        )}
      </p>
      <p>
        <span className="code [overflow-wrap:anywhere]">{command}</span>
        <CopyButton text={command} label={t('Copy the command')} />
      </p>
    </Card>
  )
}
