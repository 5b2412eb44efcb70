import type { Gauge, Sample } from './samples.ts'

/** A check for an operator: an alert rule for monitoring and a line of `strongroom doctor`. */
export type Check = {
  /** The name of the alert. */
  alert: string
  /** The check is red while the gauge is above or below a value. Monitoring alerts when it has been red for so many minutes. */
  red: { gauge: Gauge; labels?: Record<string, string>; minutes: number } & ({ above: number } | { below: number })
  /** `info` is advice: the doctor prints it and still exits with 0. */
  severity: 'critical' | 'warning' | 'info'
  /** The sentence for the doctor while the check is green. */
  title: string
  /** The sentence for the alert while the check is red. */
  problem: string
  advice: string
}

export const checks: Check[] = [
  {
    alert: 'StrongroomFiguresMissing',
    red: { gauge: 'strongroom_watch_up', below: 1, minutes: 2 },
    severity: 'critical',
    title: 'The database answers',
    problem: 'The database does not answer',
    advice: 'See whether PostgreSQL runs, takes writes and has connections left.',
  },
  {
    alert: 'StrongroomWritesUnconfirmed',
    red: { gauge: 'strongroom_heartbeat_age_seconds', above: 30, minutes: 0 },
    severity: 'critical',
    title: 'Changes are confirmed',
    problem: 'No change has been confirmed for half a minute',
    advice:
      'Read pg_stat_replication on the primary: a standby of synchronous_standby_names must stream. Start one, or see whether a ' +
      'node runs. Changes are refused meanwhile, and reads are answered. See docs/availability.md.',
  },
  {
    alert: 'StrongroomWalletServiceDown',
    red: { gauge: 'strongroom_wallet_service_up', below: 1, minutes: 5 },
    severity: 'critical',
    title: 'Wallet services answer',
    problem: 'A wallet service does not answer',
    advice:
      'See whether the wallet service runs and this node reaches its URL: WALLET_ALLOWED_HOSTS must list an address that is not public. ' +
      'Transfers wait, and none is lost.',
  },
  {
    alert: 'StrongroomTransfersHalted',
    red: { gauge: 'strongroom_transfers', labels: { phase: 'halted' }, above: 0, minutes: 0 },
    severity: 'critical',
    title: 'No transfer is halted',
    problem: 'A transfer is halted',
    advice: 'Run "strongroom audit verify", read the reason of the transfer, and have two people resolve it.',
  },
  {
    alert: 'StrongroomTransfersStuck',
    red: { gauge: 'strongroom_transfers_stuck', above: 0, minutes: 5 },
    severity: 'warning',
    title: 'No transfer is stuck',
    problem: 'A transfer is stuck',
    advice:
      'Ask the wallet service why it is not mined: fees that are too low, a nonce that is missing, or a node behind.',
  },
  {
    alert: 'StrongroomHandOversLate',
    red: { gauge: 'strongroom_hand_overs_oldest_seconds', above: 600, minutes: 5 },
    severity: 'warning',
    title: 'Orders are handed over',
    problem: 'An order has not been handed over for ten minutes',
    advice:
      'See whether its wallet service answers, and whether a hold, the screening or a disabled token keeps it back.',
  },
  {
    alert: 'StrongroomChangesSilent',
    red: { gauge: 'strongroom_changes_lag_seconds', above: 300, minutes: 5 },
    severity: 'warning',
    title: 'Wallet services tell their changes',
    problem: 'A wallet service does not tell its changes',
    advice:
      'See "changes" in the log. Transfers are asked about one by one meanwhile, and are known up to half a minute later.',
  },
  {
    alert: 'StrongroomScreeningSilent',
    red: { gauge: 'strongroom_screenings_oldest_seconds', above: 300, minutes: 2 },
    severity: 'critical',
    title: 'The screening service answers',
    problem: 'The screening service does not answer',
    advice:
      'See "screening" in the log, and whether SCREENING_URL answers with the right secret. What it was asked about stays held.',
  },
  {
    alert: 'StrongroomVaultHeld',
    red: { gauge: 'strongroom_held_subjects', labels: { subject: 'vault' }, above: 0, minutes: 0 },
    severity: 'warning',
    title: 'No vault is on hold as a whole',
    problem: 'A vault is on hold as a whole',
    advice: 'Nothing of it is ordered, voted on or sent. Its administrators know why; two people release it.',
  },
  {
    alert: 'StrongroomEventsQuarantined',
    red: { gauge: 'strongroom_wallet_events', labels: { outcome: 'quarantined' }, above: 0, minutes: 0 },
    severity: 'critical',
    title: 'No wallet event is quarantined',
    problem: 'A wallet event is quarantined',
    advice: 'Compare the event with the chain. A wallet service said two different things about one deposit.',
  },
  {
    alert: 'StrongroomEventsUnmatched',
    red: {
      gauge: 'strongroom_wallet_events_oldest_seconds',
      labels: { outcome: 'unmatched' },
      above: 86_400,
      minutes: 0,
    },
    severity: 'warning',
    title: 'No wallet event is unmatched for a day',
    problem: 'A wallet event has been unmatched for a day',
    advice: 'See what the event misses: an address that no vault has, or a secret that may not credit its vault.',
  },
  {
    alert: 'StrongroomBalancesDiffer',
    red: { gauge: 'strongroom_balance_differences', above: 0, minutes: 0 },
    severity: 'critical',
    title: 'The books agree with the chain',
    problem: 'The books differ from the chain',
    advice:
      'Read the reconciliation of the vault, which names the addresses. What is missing on chain was moved past the service.',
  },
  {
    alert: 'StrongroomReconciliationLate',
    red: { gauge: 'strongroom_reconciliations_due_oldest_seconds', above: 86_400, minutes: 0 },
    severity: 'warning',
    title: 'Vaults are compared with the chain',
    problem: 'The comparison of a vault with the chain is a day overdue',
    advice: 'See "reconcil" in the log, and whether the wallet service of the vault reports balances.',
  },
  {
    alert: 'StrongroomAuditUnsealed',
    red: { gauge: 'strongroom_audit_unsealed_oldest_seconds', above: 120, minutes: 2 },
    severity: 'critical',
    title: 'Audit records are sealed',
    problem: 'Audit records are not sealed',
    advice: 'A node must run. See "seal-audit" in its log, and run "strongroom audit verify".',
  },
  {
    alert: 'StrongroomLedgerUnsealed',
    red: { gauge: 'strongroom_ledger_unsealed_oldest_seconds', above: 120, minutes: 2 },
    severity: 'critical',
    title: 'Entries of the ledger are sealed',
    problem: 'Entries of the ledger are not sealed',
    advice: 'A node must run. See "seal-ledger" in its log, and run "strongroom ledger verify".',
  },
  {
    alert: 'StrongroomWitnessLate',
    red: { gauge: 'strongroom_witnesses_due_oldest_seconds', above: 3_600, minutes: 0 },
    severity: 'warning',
    title: 'Witnesses keep the heads',
    problem: 'A witness does not get the heads',
    advice:
      'See "witness" in the log: a file that cannot be written, a mailbox or a URL of WITNESSES that does not answer.',
  },
  {
    alert: 'StrongroomAuthorityFell',
    red: { gauge: 'strongroom_authorities_fallen', above: 0, minutes: 0 },
    severity: 'critical',
    title: 'No authority of a wallet service has gone back',
    problem: 'A wallet service shows an older authority than before',
    advice:
      'Nothing is handed over for its vault. Restore the newest authority file at the wallet service, or compare what it shows ' +
      'and run "strongroom authority accept".',
  },
  {
    alert: 'StrongroomVaultHalted',
    red: { gauge: 'strongroom_vaults_halted', above: 0, minutes: 0 },
    severity: 'critical',
    title: 'No vault is halted',
    problem: 'A vault is halted: its books and its wallet service differ, as after a restore',
    advice:
      'Nothing is handed over for it and no address is made. Read "vault.halted" in its audit trail, and run "strongroom recover ' +
      '--dry-run", which says what was lost.',
  },
  {
    alert: 'StrongroomNetworkUnchecked',
    red: { gauge: 'strongroom_networks_unchecked', above: 0, minutes: 0 },
    severity: 'info',
    title: 'The addresses of every network have its form',
    problem: 'A network has stored addresses of another form',
    advice:
      'It was connected before the service knew the form of its addresses, and no address on it is checked. Correct or remove the ' +
      'addresses of counterparties that are not addresses of the network.',
  },
  {
    alert: 'StrongroomServiceTokenEnds',
    red: { gauge: 'strongroom_service_tokens_ending', above: 0, minutes: 0 },
    severity: 'info',
    title: 'No service token ends soon',
    problem: 'A service token ends within 14 days',
    advice:
      'The administrators of its vault got a mail 14 days, 3 days and a day before: they make another one under People, and set it in ' +
      'the program, or let it end.',
  },
  {
    alert: 'StrongroomIdentityProviderFails',
    red: { gauge: 'strongroom_identity_providers_failing_oldest_seconds', above: 600, minutes: 0 },
    severity: 'warning',
    title: 'Identity providers answer',
    problem: 'An identity provider has not answered for ten minutes',
    advice:
      'See "identity provider" in the log, which has the reason. Its people cannot sign in by it; where it is the only way in, ' +
      'break-glass people and "strongroom admin link" are left. See docs/single-sign-on.md.',
  },
  {
    alert: 'StrongroomIdentityProviderUnread',
    red: { gauge: 'strongroom_identity_providers_read_age_seconds', above: 3_600, minutes: 0 },
    severity: 'warning',
    title: 'Keys of identity providers are read',
    problem: 'The keys of an identity provider have not been read for an hour',
    advice:
      'A node must run. See "watch-providers" in its log, and whether this provider still exists; otherwise stop it.',
  },
  {
    alert: 'StrongroomMailsWaiting',
    red: { gauge: 'strongroom_mails_oldest_seconds', above: 900, minutes: 5 },
    severity: 'warning',
    title: 'Mails are sent',
    problem: 'Mails are not sent',
    advice: 'See "mail" in the log, and whether the server of SMTP_URL takes mail. Approvers wait for it.',
  },
  {
    alert: 'StrongroomRateOld',
    red: { gauge: 'strongroom_rate_age_seconds', labels: { source: 'provider' }, above: 900, minutes: 5 },
    severity: 'warning',
    title: 'USD rates are current',
    problem: 'A USD rate is out of date',
    advice:
      'See whether RATES_URL answers, and whether a rate is held back. Without one, rules about USD decide against.',
  },
  {
    alert: 'StrongroomExportsWaiting',
    red: { gauge: 'strongroom_exports_oldest_seconds', above: 1_800, minutes: 5 },
    severity: 'warning',
    title: 'Exports are made',
    problem: 'Exports are not made',
    advice: 'See "make-exports" in the log.',
  },
  {
    alert: 'StrongroomDirectoryStopsHeld',
    red: { gauge: 'strongroom_directory_stops_held', above: 0, minutes: 0 },
    severity: 'warning',
    title: 'No stop of a directory waits',
    problem: 'A directory stopped many people within an hour, and further stops wait',
    advice: 'See whether the directory is right. A platform administrator decides under Platform, Directory.',
  },
  {
    alert: 'StrongroomDirectoryTokenEnds',
    red: { gauge: 'strongroom_directory_tokens_ending', above: 0, minutes: 0 },
    severity: 'warning',
    title: 'No token of a directory ends soon',
    problem: 'The token of a directory ends within 14 days',
    advice:
      'Make another one under Platform, Directory, and set it in the directory. People who leave are not stopped after its end.',
  },
  {
    alert: 'StrongroomDirectorySilent',
    red: { gauge: 'strongroom_directory_silent_seconds', above: 604_800, minutes: 0 },
    severity: 'info',
    title: 'Directories send requests',
    problem: 'A directory has sent no request for a week',
    advice: 'See in the directory whether its connection works. Some send requests only when people change.',
  },
  {
    alert: 'StrongroomDatabasePoolExhausted',
    red: { gauge: 'strongroom_database_connections', labels: { state: 'waiting' }, above: 10, minutes: 2 },
    severity: 'warning',
    title: 'Requests do not wait for a connection',
    problem: 'Requests wait for a database connection',
    advice: 'Look for slow statements and locks in PostgreSQL, or run another node.',
  },
  {
    alert: 'StrongroomDatabaseLoginOwns',
    red: { gauge: 'strongroom_database_login_owns', above: 0, minutes: 0 },
    severity: 'info',
    title: 'The service logs in as a role that owns nothing',
    problem: 'The service logs in as a role with the rights of the owner',
    advice:
      'An attacker who takes over the service can rewrite the record. Give DATABASE_URL a role of its own, and DATABASE_OWNER_URL ' +
      'to "strongroom migrate".',
  },
]

export type Finding = { check: Check; red: Sample[] }

/** Returns all checks with the samples that make them red. A check without such samples is green. */
export function judge(samples: Sample[]): Finding[] {
  return checks.map((check) => ({
    check,
    red: samples.filter((sample) => isOfCheck(check, sample) && isRed(check, sample.value)),
  }))
}

function isOfCheck({ red: { gauge, labels = {} } }: Check, sample: Sample): boolean {
  return sample.gauge === gauge && Object.entries(labels).every(([name, value]) => sample.labels[name] === value)
}

function isRed({ red }: Check, value: number): boolean {
  return 'above' in red ? value > red.above : value < red.below
}

/** Returns the alert rules for Prometheus as YAML, in which every text is in quotes. */
export function alertRules(): string {
  const text = (value: string) => (value.includes('"') ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value))
  return [
    '# Made by "strongroom doctor --alerts".',
    'groups:',
    '  - name: "strongroom"',
    '    rules:',
    ...checks.flatMap((check) => [
      `      - alert: ${text(check.alert)}`,
      `        expr: ${text(expressionOf(check))}`,
      `        for: ${text(`${check.red.minutes}m`)}`,
      '        labels:',
      `          severity: ${text(check.severity)}`,
      '        annotations:',
      `          summary: ${text(check.problem)}`,
      `          description: ${text(check.advice)}`,
    ]),
    '',
  ].join('\n')
}

function expressionOf({ red }: Check): string {
  const { gauge, labels = {} } = red
  const selector = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  const series = selector.length === 0 ? gauge : `${gauge}{${selector.join(',')}}`
  return 'above' in red ? `${series} > ${red.above}` : `${series} < ${red.below}`
}
