import type {
  AccountStatementReport,
  ApprovalActivityReport,
  AssetMovementReport,
  CategoryAnalyticsReport,
  FeesReport,
  OperationsExceptionsReport,
  OperationsReport,
  ReportHeader,
  TransactionActivityReport,
} from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import type { More } from '../../ui/data-table.tsx'
import { DetailState, Empty } from '../../ui/list-states.tsx'
import { ApprovalAnswer, Approvals } from './approval-answer.tsx'
import { ByAsset, ByCounterparty, ByOwnAddress } from './breakdowns.tsx'
import { CategoryAnswer } from './category-answer.tsx'
import { DataQuality, Exceptions } from './data-quality.tsx'
import { ReportContext } from './drilldown-link.tsx'
import { FeesAnswer } from './fees-answer.tsx'
import { Figures } from './figures.tsx'
import { BalanceMovements, ByCategory, ByOwner, ByStatus, Observations } from './more-breakdowns.tsx'
import { Operations } from './operations.tsx'
import type { ReportSearch } from './parameters.ts'
import { categoryOptions, type Parameters, pagedReportQuery, reportQuery } from './queries.ts'
import { Statement } from './statement.tsx'
import { Timeline } from './timeline.tsx'
import { isActivity, type ReportType } from './types.ts'

type AnswerProps = { code: string; type: ReportType; search: ReportSearch; parameters: Parameters }
type Paged = AccountStatementReport | OperationsReport | OperationsExceptionsReport
type Whole = TransactionActivityReport | FeesReport | ApprovalActivityReport | CategoryAnalyticsReport

/** The answer of a report. */
export function Answer(props: AnswerProps) {
  const isPaged = ['account_statement', 'operations', 'operations_exceptions'].includes(props.type)
  return isPaged ? <PagedAnswer {...props} /> : <WholeAnswer {...props} />
}

function WholeAnswer({ code, type, search, parameters }: AnswerProps) {
  const query = useQuery(reportQuery<Whole>(code, type, parameters, true))
  return (
    <DetailState query={query}>
      {query.data !== undefined && (
        <Frame code={code} type={type} search={search} report={query.data.report}>
          {isActivity(type) ? (
            <ActivityAnswer code={code} answer={query.data as TransactionActivityReport} />
          ) : type === 'fees' ? (
            <FeesAnswer answer={query.data as FeesReport} />
          ) : type === 'approval_activity' ? (
            <ApprovalAnswer answer={query.data as ApprovalActivityReport} />
          ) : (
            <CategoryAnswer answer={query.data as CategoryAnalyticsReport} />
          )}
        </Frame>
      )}
    </DetailState>
  )
}

function PagedAnswer({ code, type, search, parameters }: AnswerProps) {
  const query = useInfiniteQuery(pagedReportQuery<Paged>(code, type, parameters, true))
  const pages = query.data?.pages ?? []
  const more: More = query
  return (
    <DetailState query={query}>
      {pages.length > 0 && (
        <Frame code={code} type={type} search={search} report={pages[0]!.report}>
          {type === 'account_statement' ? (
            <Statement pages={pages as AccountStatementReport[]} more={more} />
          ) : type === 'operations' ? (
            <Operations pages={pages as OperationsReport[]} more={more} />
          ) : (
            <Exceptions pages={pages as OperationsExceptionsReport[]} more={more} />
          )}
        </Frame>
      )}
    </DetailState>
  )
}

type FrameProps = { code: string; type: ReportType; search: ReportSearch; report: ReportHeader; children: ReactNode }

function Frame({ code, type, search, report, children }: FrameProps) {
  const { isAdmin, isAuditor } = useViewer(code)
  return (
    <ReportContext value={{ code, type, search, report, readsAll: isAdmin || isAuditor }}>
      <p className="mb-4 text-quiet">
        {t('{from} until {to} ({zone}), as of {cutoff}', {
          from: dayIn(report.from, report.timezone),
          to: dayIn(new Date(new Date(report.to).getTime() - 1).toISOString(), report.timezone),
          zone: report.timezone.replaceAll('_', ' '),
          cutoff: formatTime(report.dataCutoff),
        })}
      </p>
      {children}
    </ReportContext>
  )
}

function dayIn(at: string, zone: string): string {
  return formatter(Intl.DateTimeFormat, { dateStyle: 'medium', timeZone: zone }).format(new Date(at))
}

function ActivityAnswer({ code, answer }: { code: string; answer: TransactionActivityReport }) {
  const { data: categories } = useQuery(categoryOptions(code))
  const names = (key: string) => categories?.find(({ value }) => value === key)?.label ?? key
  const { summary, byAddressOwner, report } = answer
  const { balances } = answer as Partial<AssetMovementReport>
  return (
    <>
      <Figures summary={summary} comparison={answer.comparison} quality={answer.dataQuality} />
      {balances !== undefined && balances.length > 0 && <BalanceMovements rows={balances} />}
      <Observations observations={answer.observations} />
      {summary.operationsCount === 0 ? (
        <Empty>
          <p>{t('No operation in this period. Choose a longer period or fewer filters.')}</p>
        </Empty>
      ) : (
        <>
          <Timeline periods={answer.timeline} zone={report.timezone} />
          <ByAsset rows={answer.byAsset} />
          <ByCounterparty rows={answer.byCounterparty} />
          <ByOwnAddress rows={answer.byOwnAddress} />
          {byAddressOwner !== undefined && <ByOwner rows={byAddressOwner} />}
          <ByStatus rows={answer.byStatus} />
          <ByCategory rows={answer.byCategory} names={names} />
          <Approvals approvals={answer.approvals} />
          <DataQuality quality={answer.dataQuality} />
        </>
      )}
    </>
  )
}
