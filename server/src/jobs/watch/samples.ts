import type { Deps } from '../../deps.ts'
import {
  walletProbeMilliseconds,
  walletProbesAtOnce,
  watchedVaultsMax,
  watchSeconds,
  watchWalletsSeconds,
} from '../../lib/limits.ts'
import { dispatcherOf, isWalletReachable } from '../../modules/registry/wallet-service/call.ts'
import { type Figures, readFigures, type Waiting } from './figures.ts'

/** The descriptions of the gauges of /metrics, which the alert rules and `strongroom doctor` use, too. */
export const gauges = {
  strongroom_watch_up: '1 if the figures could be read from the database, else 0.',
  strongroom_transfers: 'Transfers that have not ended, by the phase of their delivery.',
  strongroom_transfers_oldest_seconds:
    'Age of the oldest transfer of a phase that has not ended, in seconds; 0 without such a transfer.',
  strongroom_transfers_stuck: 'Transfers that the wallet service has had for longer than STUCK_AFTER_MINUTES.',
  strongroom_hand_overs: 'Orders that the wallet service does not have yet.',
  strongroom_hand_overs_oldest_seconds:
    'Age of the oldest order that the wallet service does not have yet; 0 without such an order.',
  strongroom_changes_lag_seconds:
    'Time since the wallet service of a vault with transfers in flight last told its changes; 0 without such a vault.',
  strongroom_changes_missed: 'Changes of transfers that a wallet service did not tell, and a question by id found.',
  strongroom_changes_strange: 'Entries of wallet services about transfers that their vault does not have.',
  strongroom_held_subjects: 'Subjects that are held, by kind.',
  strongroom_screenings: 'Deposits and transfers that wait for an answer of the screening service.',
  strongroom_screenings_oldest_seconds:
    'Age of the oldest question to the screening service without an answer; 0 without such a question.',
  strongroom_wallet_events: 'Events of wallet services that credited nothing and wait for people, by outcome.',
  strongroom_wallet_events_oldest_seconds:
    'Age of the oldest event that credited nothing and waits for people, by outcome; 0 without such an event.',
  strongroom_audit_unsealed_records: 'Audit records that are not sealed yet.',
  strongroom_audit_unsealed_oldest_seconds:
    'Age of the oldest audit record that is not sealed yet; 0 when all records are sealed.',
  strongroom_ledger_unsealed_entries: 'Entries of the ledger that are not sealed yet.',
  strongroom_ledger_unsealed_oldest_seconds:
    'Age of the oldest entry of the ledger that is not sealed yet; 0 when all entries are sealed.',
  strongroom_witnesses_due: 'Witnesses that wait for the heads of the seal chains.',
  strongroom_witnesses_due_oldest_seconds:
    'Time since the heads were due at the witness that has waited longest; 0 when no witness waits.',
  strongroom_authorities_fallen: 'Vaults whose wallet service shows an older authority than before.',
  strongroom_authorities_fallen_oldest_seconds:
    'Time since a wallet service first showed an older authority than before; 0 without such a vault.',
  strongroom_vaults_halted: 'Vaults whose books differ from what their wallet service accepted.',
  strongroom_vaults_halted_oldest_seconds:
    'Time since the vault that was halted first was halted; 0 without a halted vault.',
  strongroom_networks_unchecked:
    'Networks whose stored addresses have another form than the addresses of their coin, so that none is checked.',
  strongroom_directory_silent_seconds:
    'Time since the last request of the active directory that has been silent for longest; 0 without an active directory.',
  strongroom_directory_tokens_ending: 'Tokens of active directories that end within 14 days.',
  strongroom_directory_stops_held: 'Stops of directories that wait for a platform administrator.',
  strongroom_directory_stops_held_oldest_seconds:
    'Age of the oldest stop of a directory that waits for a platform administrator; 0 when none waits.',
  strongroom_service_tokens_ending: 'Service tokens that end within 14 days, of those that were made to live longer.',
  strongroom_identity_providers_failing: 'Active identity providers that did not answer when they were last asked.',
  strongroom_identity_providers_failing_oldest_seconds:
    'Time since an identity provider began to fail, of the one that has failed longest; 0 when none fails.',
  strongroom_identity_providers_read_age_seconds:
    'Time since metadata and keys of an active identity provider were last read, of the oldest; 0 without one.',
  strongroom_mails: 'Mails that wait to be sent or sent again.',
  strongroom_mails_oldest_seconds: 'Age of the oldest mail that waits to be sent; 0 when no mail waits.',
  strongroom_exports: 'Exports of reports that wait or are made.',
  strongroom_exports_oldest_seconds: 'Age of the oldest export that waits or is made; 0 when no export waits.',
  strongroom_reconciliations_due: 'Vaults that are to be compared with the chain, and were not yet.',
  strongroom_reconciliations_due_oldest_seconds:
    'Time since a comparison with the chain was due, of the vault that has waited longest; 0 when no vault waits.',
  strongroom_balance_differences: 'Balances of addresses that differ from the chain, as the administrators were told.',
  strongroom_balance_differences_oldest_seconds:
    'Age of the oldest balance that differs from the chain; 0 when no balance differs.',
  strongroom_rate_age_seconds: 'Age of the newest USD rate of a token, and whether the provider or people set it.',
  strongroom_wallet_service_up: '1 if the wallet service of a vault answers this node, else 0.',
  strongroom_database_connections: 'Connections of this node: in use, idle, and requests that wait for one.',
  strongroom_heartbeat_age_seconds:
    'Seconds since a commit was known to be confirmed, by the standbys too that PostgreSQL waits for.',
  strongroom_database_login_owns: '1 if the role that the service logs in as can become the owner of a table, else 0.',
} as const

export type Gauge = keyof typeof gauges
export type Sample = { gauge: Gauge; labels: Record<string, string>; value: number }

type Watched = Pick<Deps, 'db' | 'clock' | 'connections'> & {
  config: Pick<Deps['config'], 'walletAllowedHosts' | 'demo'>
}

/** Reads all samples now. @throws when the database cannot be read */
export async function readSamples(deps: Watched): Promise<Sample[]> {
  const figures = await readFigures(deps.db, deps.clock())
  return [...samplesOf(figures), ...(await readWallets(deps)), ...samplesOfPool(deps)]
}

/**
 * Returns a function that reads the samples for scrapes. It reads the database every few seconds at most, and wallet services less
 * often, for any number of scrapes. Without METRICS_TOKEN everybody may read the samples; then they name no vault, and wallet services
 * are not called.
 */
export function createWatch(deps: Watched & Pick<Deps, 'config' | 'log'>): () => Promise<Sample[]> {
  const figures = remembered(watchSeconds, async () => samplesOf(await readFigures(deps.db, deps.clock())))
  const isOpen = deps.config.metricsToken === null
  const wallets = remembered(watchWalletsSeconds, async () => (isOpen ? [] : await readWallets(deps)))
  const soft = (read: () => Promise<Sample[]>) =>
    read().catch((error: unknown) => {
      deps.log.warn({ err: error }, 'figures for the operator could not be read')
      return null
    })
  return async () => {
    const [ofDatabase, ofWallets] = await Promise.all([soft(figures), soft(wallets)])
    const up: Sample[] = ofDatabase === null ? [{ gauge: 'strongroom_watch_up', labels: {}, value: 0 }] : ofDatabase
    return [...up, ...(ofWallets ?? []), ...samplesOfPool(deps)]
  }
}

/** Runs one read at a time and keeps its result for some seconds. */
function remembered<Result>(seconds: number, read: () => Promise<Result>): () => Promise<Result> {
  let last: { at: number; result: Promise<Result> } | null = null
  return () => {
    const now = performance.now()
    if (last === null || now - last.at > seconds * 1_000) last = { at: now, result: read() }
    return last.result
  }
}

function samplesOf(figures: Figures): Sample[] {
  const sample = (gauge: Gauge, value: number, labels: Record<string, string> = {}): Sample => ({
    gauge,
    labels,
    value,
  })
  const both = (count: Gauge, oldest: Gauge, waiting: Waiting, labels: Record<string, string> = {}) => [
    sample(count, waiting.count, labels),
    sample(oldest, waiting.oldestSeconds, labels),
  ]
  return [
    sample('strongroom_watch_up', 1),
    ...figures.transfers.flatMap(({ phase, ...waiting }) =>
      both('strongroom_transfers', 'strongroom_transfers_oldest_seconds', waiting, { phase }),
    ),
    sample('strongroom_transfers_stuck', figures.stuckTransfers),
    ...both('strongroom_hand_overs', 'strongroom_hand_overs_oldest_seconds', figures.handOvers),
    sample('strongroom_changes_lag_seconds', figures.following.lagSeconds),
    sample('strongroom_changes_missed', figures.following.foundByQuestion),
    sample('strongroom_changes_strange', figures.following.strangers),
    ...figures.holds.map(({ subject, count }) => sample('strongroom_held_subjects', count, { subject })),
    ...both('strongroom_screenings', 'strongroom_screenings_oldest_seconds', figures.screenings),
    ...figures.walletEvents.flatMap(({ outcome, ...waiting }) =>
      both('strongroom_wallet_events', 'strongroom_wallet_events_oldest_seconds', waiting, { outcome }),
    ),
    ...both('strongroom_audit_unsealed_records', 'strongroom_audit_unsealed_oldest_seconds', figures.unsealedRecords),
    ...both('strongroom_ledger_unsealed_entries', 'strongroom_ledger_unsealed_oldest_seconds', figures.unsealedEntries),
    ...both('strongroom_witnesses_due', 'strongroom_witnesses_due_oldest_seconds', figures.witnesses),
    ...both('strongroom_authorities_fallen', 'strongroom_authorities_fallen_oldest_seconds', figures.authorities),
    ...figures.uncheckedNetworks.map((network) => sample('strongroom_networks_unchecked', 1, { network })),
    ...both('strongroom_vaults_halted', 'strongroom_vaults_halted_oldest_seconds', figures.haltedVaults),
    sample('strongroom_directory_silent_seconds', figures.directories.silentSeconds),
    sample('strongroom_directory_tokens_ending', figures.directories.tokensEnding),
    ...both(
      'strongroom_directory_stops_held',
      'strongroom_directory_stops_held_oldest_seconds',
      figures.directories.heldStops,
    ),
    sample('strongroom_service_tokens_ending', figures.serviceTokensEnding),
    ...both(
      'strongroom_identity_providers_failing',
      'strongroom_identity_providers_failing_oldest_seconds',
      figures.failingProviders,
    ),
    sample('strongroom_identity_providers_read_age_seconds', figures.providers.oldestSeconds),
    ...both('strongroom_mails', 'strongroom_mails_oldest_seconds', figures.mails),
    ...both('strongroom_exports', 'strongroom_exports_oldest_seconds', figures.exports),
    ...both('strongroom_reconciliations_due', 'strongroom_reconciliations_due_oldest_seconds', figures.reconciliations),
    ...both('strongroom_balance_differences', 'strongroom_balance_differences_oldest_seconds', figures.differences),
    sample('strongroom_heartbeat_age_seconds', figures.heartbeatAgeSeconds),
    sample('strongroom_database_login_owns', figures.loginOwns ? 1 : 0),
    ...figures.rates.map(({ ageSeconds, ...labels }) => sample('strongroom_rate_age_seconds', ageSeconds, labels)),
  ]
}

/** Calls the wallet service of each vault that is not a draft: each URL once, a few at a time. */
async function readWallets({ db, config }: Watched): Promise<Sample[]> {
  const vaults = await db
    .selectFrom('vaults')
    .select(['code', 'wallet_service_url as url'])
    .where('locked_at', 'is not', null)
    .orderBy('code')
    .limit(watchedVaultsMax)
    .execute()
  const dispatcher = dispatcherOf(config)
  const states = new Map<string, boolean>()
  const left = [...new Set(vaults.map(({ url }) => url))]
  const askInTurn = async () => {
    for (let url = left.shift(); url !== undefined; url = left.shift()) {
      states.set(url, await isWalletReachable(url, dispatcher, AbortSignal.timeout(walletProbeMilliseconds)))
    }
  }
  await Promise.all(Array.from({ length: walletProbesAtOnce }, askInTurn))
  return vaults.map(({ code, url }) => ({
    gauge: 'strongroom_wallet_service_up',
    labels: { vault: code },
    value: states.get(url) ? 1 : 0,
  }))
}

function samplesOfPool({ connections }: Pick<Deps, 'connections'>): Sample[] {
  return Object.entries(connections()).map(([state, value]) => ({
    gauge: 'strongroom_database_connections',
    labels: { state },
    value,
  }))
}
