import { Link } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext } from 'react'
import { type Drilldown, type Place, placeOf, type Shown } from './drilldown.ts'
import type { ReportSearch } from './parameters.ts'

/** The report and the filters that the figures on this page come from. */
const ShownReport = createContext<Shown | null>(null)
export const ReportContext = ShownReport.Provider

export function useShownReport(): Shown {
  return useContext(ShownReport)!
}

/**
 * A figure with a link to exactly its operations. There is no link if `filters` is null, or if no page lists these
 * operations.
 */
export function DrilldownLink({ filters = {}, children }: { filters?: Drilldown | null; children: ReactNode }) {
  const shown = useShownReport()
  const place = filters === null ? null : placeOf(shown, filters)
  if (place === null) return children
  return (
    <OperationsLink code={shown.code} place={place}>
      {children}
    </OperationsLink>
  )
}

type OperationsLinkProps = { code: string; place: Place; children: ReactNode }

export function OperationsLink({ code, place: { page, search }, children }: OperationsLinkProps) {
  return (
    <Link
      to={`/v/${code}/${page === 'activity' ? page : 'reports/operations'}` as '/'}
      search={search as never}
      preload={false}
      className="underline decoration-line underline-offset-4 hover:decoration-accent"
    >
      {children}
    </Link>
  )
}

type ExceptionsLinkProps = { search: ReportSearch | null; className: string; children: ReactNode }

/**
 * A link to the report of exceptions. There is no link if `search` is null, because the report cannot list exactly
 * these operations.
 */
export function ExceptionsLink({ search, className, children }: ExceptionsLinkProps) {
  const { code } = useShownReport()
  if (search === null) return children
  return (
    <Link
      to="/v/$code/reports/$type"
      params={{ code, type: 'operations_exceptions' }}
      search={search}
      className={className}
    >
      {children}
    </Link>
  )
}

/** Returns the page of an operation. */
export function operationPath(code: string, type: 'transfer' | 'deposit', id: string): string {
  return `/v/${code}/${type === 'transfer' ? 'transfers' : 'deposits'}/${id}`
}
