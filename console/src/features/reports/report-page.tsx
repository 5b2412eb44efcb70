import { Link } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useMemo, useState } from 'react'
import { t } from '../../lib/language.ts'
import { zone } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Answer } from './answer.tsx'
import { ExportButton } from './export-panel.tsx'
import { ExportsList } from './exports-list.tsx'
import { Filters } from './filters.tsx'
import { type Change, missingSubject, parametersOf, type ReportSearch } from './parameters.ts'
import { Settings } from './settings.tsx'
import { type ReportType, reportPurpose, reportTitle, reportTypes } from './types.ts'

type ReportPageProps = { code: string; type: ReportType; search: ReportSearch; change: Change }

/** A report: its settings on the left, its content on the right. */
export function ReportPage({ code, type, search, change }: ReportPageProps) {
  const [open, setOpen] = useState(false)
  const parameters = useMemo(() => parametersOf(type, search, zone), [type, search])
  const missing = missingSubject(type, search)
  const settings = { code, type, search, change }
  const exporting = missing === null ? null : t('Choose the subject of the report first.')
  return (
    <Page
      title={reportTitle(type)}
      actions={
        <>
          <Button
            className="lg:hidden"
            aria-expanded={open}
            icon={<SlidersHorizontal size={16} aria-hidden />}
            onClick={() => setOpen(!open)}
          >
            {t('Settings')}
          </Button>
          <ExportButton code={code} type={type} parameters={parameters} disabledBecause={exporting} />
        </>
      }
    >
      <p className="-mt-3 mb-4 text-quiet">{reportPurpose(type)}</p>
      <div className="gap-6 lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
        <div className={open ? '' : 'max-lg:hidden'}>
          <Card>
            <Settings {...settings} />
          </Card>
        </div>
        <div className="min-w-0">
          <Filters {...settings} />
          {missing === null ? (
            <Answer code={code} type={type} search={search} parameters={parameters} />
          ) : (
            <Empty>
              <p>{t('Choose the subject of the report first.')}</p>
              <Button className="lg:hidden" onClick={() => setOpen(true)}>
                {t('Settings')}
              </Button>
            </Empty>
          )}
        </div>
      </div>
    </Page>
  )
}

const cardClass = 'block h-full rounded-lg border border-line bg-paper p-4 hover:border-accent'

/** All reports, each with its purpose, and for readers of the whole vault the archive for an auditor. */
export function ReportList({ code }: { code: string }) {
  const { isAdmin, isAuditor } = useViewer(code)
  return (
    <Page title={t('Reports')}>
      <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
        {reportTypes.map((type) => (
          <li key={type}>
            <Link to="/v/$code/reports/$type" params={{ code, type }} className={cardClass}>
              <span className="block font-medium text-accent">{reportTitle(type)}</span>
              <span className="text-quiet">{reportPurpose(type)}</span>
            </Link>
          </li>
        ))}
        {(isAdmin || isAuditor) && (
          <li>
            <Link to="/v/$code/reports/auditor" params={{ code }} className={cardClass}>
              <span className="block font-medium text-accent">{t('Export for the auditor')}</span>
              <span className="text-quiet">{t('One archive for a period, which one command checks.')}</span>
            </Link>
          </li>
        )}
      </ul>
      <div className="mt-6">
        <ExportsList code={code} />
      </div>
    </Page>
  )
}
