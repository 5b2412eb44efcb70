import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../app.ts'
import { openDatabase } from '../../db/client.ts'
import { noteStuckTransfers } from '../../modules/money/stuck/note-stuck.ts'
import { fakeAddress, fakeTxHash } from '../../testing/fake-wallet.ts'
import { createTransferBench, type TransferBench } from '../../testing/transfer-bench.ts'
import { alertRules, checks, judge } from './checks.ts'
import { dashboard } from './dashboard.ts'
import { readFigures } from './figures.ts'
import { createWatch, type Gauge, gauges, readSamples, type Sample } from './samples.ts'

let bench: TransferBench
beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const read = () => readSamples(bench.test.deps)
const valueIn = (samples: Sample[], gauge: Gauge, labels: Record<string, string> = {}) =>
  samples.find(
    (sample) => sample.gauge === gauge && Object.entries(labels).every(([name, text]) => sample.labels[name] === text),
  )?.value
const redOf = (samples: Sample[]) =>
  judge(samples)
    // The tests connect as the owner, against which a check of the severity `info` advises.
    .filter(({ check, red }) => red.length > 0 && check.severity !== 'info')
    .map(({ check }) => check.alert)

describe('metrics for operators', () => {
  it('is green while nothing waits for long', async () => {
    const samples = await read()
    expect(redOf(samples)).toEqual([])
    expect(valueIn(samples, 'strongroom_wallet_service_up', { vault: 'main-vault' })).toBe(1)
    expect(valueIn(samples, 'strongroom_database_connections', { state: 'idle' })).toBeGreaterThan(0)
    expect(new Set(samples.map(({ gauge }) => gauge))).toEqual(
      new Set(
        Object.keys(gauges).filter(
          (name) => !['strongroom_rate_age_seconds', 'strongroom_networks_unchecked'].includes(name),
        ),
      ),
    )
  })

  it('counts transfers by phase, with the age of the oldest, and stuck transfers', async () => {
    const address = await bench.fundedAddress()
    const { body: waiting } = await bench.order(address.id, '500')
    const { body: sent } = await bench.order(address.id, '1')
    await bench.sql(`update transfers set phase = 'submitted', sent_at = now() where id = $1`, [sent.id])
    await bench.sql(`update transfers set created_at = created_at - interval '1 hour' where id = $1`, [waiting.id])
    const now = await read()
    expect(valueIn(now, 'strongroom_transfers', { phase: 'waiting' })).toBe(1)
    expect(valueIn(now, 'strongroom_transfers_oldest_seconds', { phase: 'waiting' })).toBeGreaterThan(3_500)
    expect(valueIn(now, 'strongroom_transfers', { phase: 'submitted' })).toBe(1)
    expect(valueIn(now, 'strongroom_transfers_stuck')).toBe(0)
    bench.test.clock.advance(31 * 60_000)
    await noteStuckTransfers(bench.test.deps)
    expect(valueIn(await read(), 'strongroom_transfers_stuck')).toBe(1)
    await bench.sql(`update transfers set phase = 'halted' where id = $1`, [sent.id])
    const halted = await read()
    expect(valueIn(halted, 'strongroom_transfers', { phase: 'halted' })).toBe(1)
    expect(redOf(halted)).toContain('StrongroomTransfersHalted')
    await bench.sql(`update transfers set phase = 'queued' where id = $1`, [sent.id])
    for (const { id } of [waiting, sent]) await bench.act(bench.owner, id, 'cancel')
  })

  it('measures the silence of wallet services while transfers are in flight, and counts changes that they did not report', async () => {
    expect(valueIn(await read(), 'strongroom_changes_lag_seconds')).toBe(0)
    await bench.sql(
      `insert into followings (vault_id, cursor, heard_at, ask_at, found_by_question, strangers)
      select id, 'c', $1, $1, 2, 3 from vaults`,
      [new Date(bench.test.clock.now().getTime() - 400_000)],
    )
    expect(valueIn(await read(), 'strongroom_changes_lag_seconds')).toBe(0)
    const address = await bench.fundedAddress()
    const { body: sent } = await bench.order(address.id, '1')
    expect(valueIn(await read(), 'strongroom_hand_overs')).toBe(1)
    await bench.sql(`update deliveries set queue = 'follow' where id = $1`, [sent.id])
    const samples = await read()
    expect(valueIn(samples, 'strongroom_hand_overs')).toBe(0)
    expect(valueIn(samples, 'strongroom_changes_lag_seconds')).toBeGreaterThanOrEqual(400)
    expect(redOf(samples)).toContain('StrongroomChangesSilent')
    expect(valueIn(samples, 'strongroom_changes_missed')).toBe(2)
    expect(valueIn(samples, 'strongroom_changes_strange')).toBe(3)
    await bench.sql('delete from followings')
    await bench.act(bench.owner, sent.id, 'cancel')
  })

  it('counts each held item once, for any number of holds, and unanswered screenings', async () => {
    const address = await bench.fundedAddress()
    const [{ id }] = await bench.sql('select id from deposits where address_id = $1', [address.id])
    const { admin } = bench.vault
    const reason = 'Something is wrong'
    for (const [subjectType, subjectId] of [
      ['deposit', id],
      ['vault', bench.vault.id],
    ])
      expect((await admin.post('/vaults/main-vault/holds', { subjectType, subjectId, reason })).status).toBe(201)
    await bench.sql(
      `insert into holds (vault_id, id, subject_type, subject_id, origin, reason, reserved, created_at)
       values ($1, 'another', 'deposit', $2, 'screening', 'x', 0, now())`,
      [bench.vault.id, id],
    )
    await bench.sql(
      `insert into screenings (vault_id, subject_type, subject_id, id, created_at) values ($1, 'deposit', $2, 'x', now())`,
      [bench.vault.id, id],
    )
    bench.test.clock.advance(600_000)
    const samples = await read()
    expect(valueIn(samples, 'strongroom_held_subjects', { subject: 'deposit' })).toBe(1)
    expect(valueIn(samples, 'strongroom_held_subjects', { subject: 'user' })).toBe(0)
    expect(valueIn(samples, 'strongroom_screenings')).toBe(1)
    expect(redOf(samples)).toEqual(expect.arrayContaining(['StrongroomScreeningSilent', 'StrongroomVaultHeld']))
    await bench.sql('delete from screenings')
    await bench.sql(`update holds set released_at = now(), release_reason = 'x'`)
  })

  it('finds events, records, mails, exports and rates that wait too long', async () => {
    const { test } = bench
    const tx = { network: 'ethereum', asset: null, amount: '1', toAddress: fakeAddress('nobody'), fromAddress: null }
    const event = { kind: 'TOPUP', tx: { ...tx, txHash: fakeTxHash('unmatched') } }
    expect((await test.anonymous.post('//webhooks/wallet', event)).body.outcome).toBe('unmatched')
    await bench.sql(
      `insert into wallet_events (id, received_at, body, outcome) values ('quarantined', now(), '{}', 'quarantined')`,
    )
    await bench.sql(
      `insert into token_rates (token_id, as_of, source, usd_rate, created_at)
       values ($1, now(), 'provider', 2000, now()), ($2, now(), 'treasury', 1, now())`,
      [bench.vault.tokens.eth.id, bench.vault.tokens.usdt.id],
    )
    await bench.sql(
      `insert into queued_mails (id, request, created_at, next_attempt_at) values ('m1', '{}', now(), now())`,
    )
    await bench.owner.post('/vaults/main-vault/reports/exports', { type: 'activity' })
    test.clock.advance(2 * 86_400_000)
    const samples = await read()
    expect(valueIn(samples, 'strongroom_wallet_events', { outcome: 'unmatched' })).toBe(1)
    expect(valueIn(samples, 'strongroom_wallet_events', { outcome: 'quarantined' })).toBe(1)
    expect(valueIn(samples, 'strongroom_rate_age_seconds', { token: 'ETH', source: 'provider' })).toBeGreaterThan(
      86_400,
    )
    expect(valueIn(samples, 'strongroom_rate_age_seconds', { token: 'USDT', source: 'people' })).toBeGreaterThan(86_400)
    expect(redOf(samples)).toEqual([
      'StrongroomEventsQuarantined',
      'StrongroomEventsUnmatched',
      'StrongroomAuditUnsealed',
      'StrongroomLedgerUnsealed',
      'StrongroomMailsWaiting',
      'StrongroomRateOld',
    ])
  })

  it('names a Litecoin network that has addresses of another form', async () => {
    await bench.sql(
      `insert into networks (id, coin_type, code, slug, name, type, created_at, updated_at)
      values ('n2', 2, 'ltc', 'ltc', 'Litecoin', 'other', now(), now())`,
    )
    const named = async () => judge(await read()).find(({ check }) => check.alert === 'StrongroomNetworkUnchecked')!.red
    expect(await named()).toEqual([{ gauge: 'strongroom_networks_unchecked', value: 1, labels: { network: 'ltc' } }])
    // A gauge whose labels are not declared would make the whole answer fail.
    const metricsToken = 'a token of the scraper'
    const app = await createApp({ ...bench.test.deps, config: { ...bench.test.deps.config, metricsToken } })
    const scraped = await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${metricsToken}` } })
    await app.close()
    expect(scraped.statusCode).toBe(200)
    for (const { gauge, labels } of await read())
      for (const name of Object.keys(labels)) expect(scraped.body).toMatch(new RegExp(`^${gauge}\\{.*${name}="`, 'm'))
    await bench.sql(`update networks set type = 'litecoin' where id = 'n2'`)
    expect(await named()).toEqual([])
    await bench.sql(`delete from networks where id = 'n2'`)
  })

  it('finds a wallet service that does not answer, and sends it no secret', async () => {
    const { wallet } = bench.vault
    wallet.requests.length = 0
    wallet.down = 'refused'
    expect(valueIn(await read(), 'strongroom_wallet_service_up', { vault: 'main-vault' })).toBe(0)
    expect(wallet.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([['/healthz', undefined]])
    wallet.down = false
  })

  it('is read through indexes of waiting rows, without a scan of a table', async () => {
    const { db } = openDatabase({ url: bench.test.databaseUrl, onError: () => {} })
    const scanned = await db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx)
      await readFigures(trx, bench.test.deps.clock())
      // Counts only the reads of this transaction.
      const { rows } = await sql<{ relname: string }>`
        select relname from pg_stat_xact_user_tables where seq_scan > 0 and relname in ('holds', 'screenings', 'transfers',
          'wallet_events', 'audit_records', 'notifications', 'queued_mails', 'report_exports', 'token_rates',
          'operations', 'reconciliations', 'reconciliation_differences', 'deliveries')`.execute(trx)
      const { rows: found } = await sql<{ count: number }>`
        select count(*)::int from pg_stat_xact_user_tables where idx_scan > 0`.execute(trx)
      return { sequentially: rows.map(({ relname }) => relname), byIndex: found[0]!.count }
    })
    await db.destroy()
    expect(scanned.sequentially).toEqual([])
    expect(scanned.byIndex).toBeGreaterThan(8)
  })

  it('is read once for scrapes at the same time and soon after', async () => {
    let reads = 0
    const { deps } = bench.test
    const watch = createWatch({
      ...deps,
      clock: () => {
        reads += 1
        return deps.clock()
      },
    })
    await Promise.all([watch(), watch(), watch()])
    await watch()
    expect(reads).toBe(1)
  })

  it('is shown at /metrics, which also answers without the database', async () => {
    const { deps, anonymous } = bench.test
    const open = await anonymous.get('//metrics')
    expect(open.body).toContain('\nstrongroom_watch_up 1\n')
    expect(open.body).not.toContain('main-vault')
    const metricsToken = 'a token of the scraper'
    const closed = await createApp({ ...deps, config: { ...deps.config, metricsToken } })
    const { body } = await closed.inject({ url: '/metrics', headers: { authorization: `Bearer ${metricsToken}` } })
    await closed.close()
    expect(body).toContain('\nstrongroom_transfers{phase="halted"} 0\n')
    expect(body).toContain('\nstrongroom_wallet_service_up{vault="main-vault"} 1\n')
    const { db } = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/none', onError: () => {} })
    const app = await createApp({ ...bench.test.deps, db })
    const answer = await app.inject('/metrics')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain('\nstrongroom_watch_up 0\n')
    expect(answer.body).toContain('process_cpu_seconds_total')
    expect(answer.body).not.toMatch(/^strongroom_(transfers|audit|mails)\S* \d/m)
    await app.close()
    await db.destroy()
  })
})

describe('the alert rules', () => {
  it('are the content of docs/alerts.yaml, in the form of Prometheus', async () => {
    const text = await readFile(new URL('../../../../docs/alerts.yaml', import.meta.url), 'utf8')
    expect(text).toBe(alertRules())
    const { groups } = parseYaml(text) as { groups: { name: string; rules: Record<string, unknown>[] }[] }
    expect(groups.map(({ name }) => name)).toEqual(['strongroom'])
    const rules = groups[0]!.rules
    expect(rules.map(({ alert }) => alert)).toEqual(checks.map(({ alert }) => alert))
    const { body } = await bench.test.anonymous.get('//metrics')
    for (const rule of rules) {
      expect(Object.keys(rule)).toEqual(['alert', 'expr', 'for', 'labels', 'annotations'])
      const expression = /^(\w+)(\{\w+="\w+"\})? [<>] \d+$/.exec(rule.expr as string)
      expect(expression, String(rule.expr)).not.toBeNull()
      expect(body).toContain(`# TYPE ${expression![1]} gauge\n`)
      expect(rule.for).toMatch(/^\d+m$/)
      expect(rule.labels).toEqual({ severity: expect.stringMatching(/^(critical|warning|info)$/) })
      expect(rule.annotations).toEqual({ summary: expect.any(String), description: expect.any(String) })
    }
  })
})

describe('the dashboard', () => {
  it('is the content of docs/dashboard.json, and shows each gauge and only metrics that exist', async () => {
    const text = await readFile(new URL('../../../../docs/dashboard.json', import.meta.url), 'utf8')
    expect(text).toBe(dashboard())
    const { panels } = JSON.parse(text) as {
      panels: {
        id: number
        type: string
        targets?: { expr: string }[]
        gridPos: Record<'x' | 'y' | 'w' | 'h', number>
      }[]
    }
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    const { body } = await bench.test.anonymous.get('//metrics')
    const names = expressions.flatMap((expr) => /\w+(?=\{)/.exec(expr)?.[0] ?? expr)
    for (const name of names) expect(body).toContain(`# TYPE ${name.replace(/_(count|bucket)$/, '')} `)
    expect(names.filter((name) => name.startsWith('strongroom_'))).toEqual(Object.keys(gauges))
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { gridPos: a, id } of panels) {
      expect(a.x + a.w).toBeLessThanOrEqual(24)
      const covers = ({ gridPos: b }: (typeof panels)[number]) =>
        a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
      expect(panels.filter(covers).map((panel) => panel.id)).toEqual([id])
    }
  })
})

/** Parses the part of YAML that the rules use: maps and lists by indentation, and texts in quotes. */
function parseYaml(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const depthOf = (line: string) => line.length - line.trimStart().length
  const block = (): unknown => {
    const depth = depthOf(lines[0]!)
    const isList = lines[0]!.trimStart().startsWith('- ')
    const list: unknown[] = []
    const map: Record<string, unknown> = {}
    while (lines.length > 0 && depthOf(lines[0]!) === depth) {
      if (isList) {
        lines[0] = lines[0]!.replace('- ', '  ')
        list.push(block())
        continue
      }
      const [, key, value] = /^ *(\w+):(?: (".*"|'.*'))?$/.exec(lines.shift()!) ?? expect.fail('no line of a map')
      map[key!] = value === undefined ? block() : textOf(value)
    }
    return isList ? list : map
  }
  return block()
}

const textOf = (quoted: string): string =>
  quoted.startsWith("'") ? quoted.slice(1, -1).replaceAll("''", "'") : JSON.parse(quoted)
