import type { ReportHeader } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext } from 'react'
import { type Drilldown, drilldownOf, type ReportSearch } from './parameters.ts'
import type { ReportType } from './types.ts'

/** The report and the filters that the figures on this page come from. */
type Shown = { code: string; type: ReportType; search: ReportSearch; report: ReportHeader }
const ShownReport = createContext<Shown | null>(null)
export const ReportContext = ShownReport.Provider

export function useShownReport(): Shown {
  return useContext(ShownReport)!
}

/** A figure with a link to its operations in Activity. `filters` is null if Activity cannot list exactly these; then there is no link. */
export function DrilldownLink({ filters = {}, children }: { filters?: Drilldown | null; children: ReactNode }) {
  const { code, type, search, report } = useShownReport()
  const exact = filters === null ? null : drilldownOf(type, search, report, filters)
  if (exact === null) return children
  return (
    <ActivityLink code={code} filters={exact}>
      {children}
    </ActivityLink>
  )
}

type ActivityLinkProps = { code: string; filters: Drilldown; children: ReactNode }

export function ActivityLink({ code, filters, children }: ActivityLinkProps) {
  return (
    <Link
      to={`/v/${code}/activity` as '/'}
      search={filters as never}
      preload={false}
      className="underline decoration-line underline-offset-4 hover:decoration-accent"
    >
      {children}
    </Link>
  )
}

/** Returns the page of an operation. */
export function operationPath(code: string, type: 'transfer' | 'deposit', id: string): string {
  return `/v/${code}/${type === 'transfer' ? 'transfers' : 'deposits'}/${id}`
}
