import { t } from '../../lib/language.ts'

export const reportTypes = [
  'transaction_activity',
  'asset_movement',
  'account_statement',
  'operations',
  'operations_exceptions',
  'fees',
  'address_activity',
  'counterparty_activity',
  'counterparty_group_activity',
  'category_analytics',
  'approval_activity',
] as const
export type ReportType = (typeof reportTypes)[number]

export function isReportType(text: string): text is ReportType {
  return (reportTypes as readonly string[]).includes(text)
}

const activityTypes: ReadonlySet<ReportType> = new Set([
  'transaction_activity',
  'asset_movement',
  'address_activity',
  'counterparty_activity',
  'counterparty_group_activity',
])

/** Returns true for reports that add up operations by token, counterparty, address, status and category. */
export function isActivity(type: ReportType): boolean {
  return activityTypes.has(type)
}

export function reportTitle(type: ReportType): string {
  const titles: Record<ReportType, () => string> = {
    transaction_activity: () => t('Overview of operations'),
    asset_movement: () => t('Movement of assets'),
    account_statement: () => t('Statement of account'),
    operations: () => t('List of operations'),
    operations_exceptions: () => t('Data quality'),
    fees: () => t('Network fees'),
    address_activity: () => t('Address or folder'),
    counterparty_activity: () => t('Counterparty'),
    counterparty_group_activity: () => t('Group of counterparties'),
    category_analytics: () => t('Category'),
    approval_activity: () => t('Approvals and votes'),
  }
  return titles[type]()
}

/** Returns the title of an export: of its report, or of the archive for an auditor. */
export function exportTitle(type: ReportType | 'auditor_archive'): string {
  return type === 'auditor_archive' ? t('Export for the auditor') : reportTitle(type)
}

export function reportPurpose(type: ReportType): string {
  const purposes: Record<ReportType, () => string> = {
    transaction_activity: () =>
      t('Incoming and outgoing amounts, by token, counterparty, address, status and category.'),
    asset_movement: () => t('Opening balance, movements and closing balance of each token.'),
    account_statement: () => t('Every posting of an address in a token, with the resulting balance.'),
    operations: () => t('Every operation with the values of its categories, for bookkeeping.'),
    operations_exceptions: () =>
      t('Operations without a purpose, a counterparty, a rate or a category, as a list of tasks.'),
    fees: () => t('Fees that were paid to networks, by network, token, address, time and purpose.'),
    address_activity: () => t('The operations of an address, or of all addresses of a folder.'),
    counterparty_activity: () => t('The amounts received from a counterparty, and paid to it.'),
    counterparty_group_activity: () => t('The amounts received from all counterparties of a group, and paid to them.'),
    category_analytics: () => t('The values of a category, such as the cost of travel.'),
    approval_activity: () => t('The time that votes took, by policy and by person.'),
  }
  return purposes[type]()
}
