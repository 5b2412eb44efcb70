import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'
import { exceptionKinds } from '../blocks/data-quality.ts'
import { thresholds } from '../blocks/observations.ts'

/** docs/reports.md is correct: its examples work, its thresholds are the constants, and its figures exist. */

const manual = await readFile(new URL('../../../../../docs/reports.md', import.meta.url), 'utf8')
const examples = [...manual.matchAll(/^```\n(.*?)\n```$/gms)].flatMap(([, text]) => text!.split('\n'))
const rowOf = (name: string) => manual.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? ''

const observed = [
  ['VOLUME_SPIKE', ['spikeBucketsMin', 'spikeUsdMin', 'spikeFactor', 'spikesMax']],
  ['LARGE_OPERATION', ['largeUsdMin', 'largeFactor', 'largeOperationsMax']],
  ['NEW_COUNTERPARTY', ['newCounterpartiesMax']],
  ['COUNTERPARTY_CONCENTRATION', ['concentrationCounterpartiesMin', 'concentrationPercentMin', 'concentrationUsdMin']],
  ['HIGH_FAILURE_RATE', ['failurePercentCritical', 'failureTransfersMin', 'failurePercentMin']],
  ['DORMANT_ADDRESS_ACTIVE', ['dormantDaysMin', 'dormantAddressesMax']],
  ['SLOW_APPROVALS', ['slowApprovalHoursCritical', 'slowApprovalHoursMin']],
  ['MISSING_RATES', []],
] as const

let world: ReportWorld
let ids: Record<string, string>
beforeAll(async () => {
  world = await createReportWorld()
  const { id: counterpartyId } = await world.addCounterparty('Supplier')
  const [folderId, counterpartyGroupId, categoryId] = [newId(), newId(), newId()]
  ids = { addressId: world.own.id, tokenId: world.vault.tokens.usdt.id, counterpartyId, folderId, counterpartyGroupId }
  const { id: vaultId } = world.vault
  await world.sql(
    `insert into address_groups (vault_id, id, name, created_by_id, created_at, updated_at) values ($1, $2, 'Treasury', $3, now(), now())`,
    [vaultId, folderId, world.owner.userId],
  )
  await world.sql(
    `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at) values ($1, $2, 'suppliers', ` +
      `'Suppliers', now(), now())`,
    [vaultId, counterpartyGroupId],
  )
  await world.sql(
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
      approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    values ($1, $2, 'travel', 'Travel', 'both', 'vault_members', 'vault_members', 'vault_members', 'none', 0, false, $3, $3, now(), now())`,
    [vaultId, categoryId, world.admin.userId],
  )
  for (const [key, type, scale] of [
    ['city', 'text', null],
    ['cost', 'number', 2],
  ]) {
    await world.sql(
      `insert into category_fields (vault_id, id, category_id, key, label, type, scale, required, sensitive, order_index,
        created_at, updated_at)
      values ($1, $2, $3, $4, $4, $5, $6, false, false, 0, now(), now())`,
      [vaultId, newId(), categoryId, key, type, scale],
    )
  }
  const addressMember = `insert into address_group_members (vault_id, group_id, address_id, created_at) values ($1, $2, $3, '2026-01-01')`
  await world.sql(addressMember, [vaultId, folderId, world.own.id])
})
afterAll(() => world.close())

describe('docs/reports.md', () => {
  it('has an example of every report', () => {
    expect(new Set(examples.map((example) => example.split('?')[0]))).toEqual(
      new Set([
        'address_activity',
        'counterparty_activity',
        'counterparty_group_activity',
        'transaction_activity',
        'asset_movement',
        'account_statement',
        'operations_exceptions',
        'operations',
        'fees',
        'approval_activity',
        'category_analytics',
      ]),
    )
  })

  it.each(examples)('answers %s', async (example) => {
    const [type, text] = example.split('?') as [string, string]
    const filled = text.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!)
    const body = await world.report(type, Object.fromEntries(new URLSearchParams(filled)))
    expect(body.report.type).toBe(type)
    expect(text.includes('breakdownBy=owner')).toBe(Object.hasOwn(body, 'byAddressOwner'))
  })

  it.each(observed)('names the thresholds of %s', (code, names) => {
    const numbers = [...rowOf(code).matchAll(/\d[\d,]*/g)].map(([text]) => Number(text.replaceAll(',', '')))
    expect(rowOf(code)).not.toBe('')
    expect(numbers).toEqual(names.map((name) => Number(thresholds[name])))
  })

  it('names every threshold and every figure of data quality', async () => {
    const named = [...manual.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
    expect(named).toEqual(expect.arrayContaining([...exceptionKinds]))
    const { dataQuality } = await world.report('transaction_activity', {})
    expect(named).toEqual(expect.arrayContaining(Object.keys(dataQuality)))
    expect(observed.flatMap(([, names]) => [...names]).sort()).toEqual(Object.keys(thresholds).sort())
  })
})
