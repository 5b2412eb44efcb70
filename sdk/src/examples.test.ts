import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addMember, createPolicy } from '../../server/src/testing/fixtures.ts'
import { createStrongroom, type VaultClient } from './strongroom.ts'
import { buildSdk } from './testing/build.ts'
import { runProgram } from './testing/run-program.ts'
import { type Stack, startStack } from './testing/stack.ts'

const examples = fileURLToPath(new URL('../examples/', import.meta.url))
const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

let stack: Stack
let folder: string
let treasury: VaultClient
let administered: VaultClient

beforeAll(async () => {
  buildSdk()
  folder = mkdtempSync(join(tmpdir(), 'strongroom-examples-'))
  stack = await startStack()
  const vaultAs = (token: string) => createStrongroom({ baseUrl: stack.url, token }).vault('treasury')
  treasury = vaultAs(stack.treasurer.token)
  administered = vaultAs(stack.vault.admin.token)
})
afterAll(async () => {
  await stack?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function run(name: string, token: string, ...args: string[]) {
  const environment = { STRONGROOM_URL: stack.url, STRONGROOM_TOKEN: token }
  const { exitCode, output } = await runProgram(join(examples, name), args, environment)
  return {
    exitCode,
    lines: output
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
    output,
  }
}

function writeJson(name: string, value: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

it('the payout service pays each entry once, and names refused entries', async () => {
  const payouts = [
    { reference: 'salary-1', toAddress: supplier, token: 'TUSD', amount: '25' },
    { reference: 'salary-2', toAddress: supplier, token: 'TUSD', amount: '30.5' },
  ]
  const path = writeJson('payouts.json', payouts)
  const first = await run('payout-service.js', stack.treasurer.token, path)
  expect(first.exitCode, first.output).toBe(0)
  expect(first.lines).toEqual([
    expect.stringMatching(/^salary-1 c[0-9a-z]{24} confirmed$/),
    expect.stringMatching(/^salary-2 c[0-9a-z]{24} confirmed$/),
  ])
  expect((await run('payout-service.js', stack.treasurer.token, path)).lines).toEqual(first.lines)
  const { items } = await treasury.transfers.list().page()
  expect(items.map(({ amountDecimal }) => amountDecimal).sort()).toEqual(['25', '30.5'])

  const tooMuch = writeJson('too-much.json', [
    { reference: 'yacht', toAddress: supplier, token: 'TUSD', amount: '1e6' },
  ])
  const refused = await run('payout-service.js', stack.treasurer.token, tooMuch)
  expect(refused.exitCode).toBe(1)
  expect(refused.output).toMatch(/^yacht refused amount/)
})

it('the deposit reconciler compares expected with received payments', async () => {
  const { address } = stack.address
  const invoices = [
    { invoice: '4711', address, token: 'TUSD', amount: '50000.00' },
    { invoice: '4712', address, token: 'ETH', amount: '5.25' },
    { invoice: '4713', address, token: 'ETH', amount: '4' },
  ]
  const { lines, exitCode } = await run(
    'deposit-reconciler.js',
    stack.treasurer.token,
    writeJson('invoices.json', invoices),
  )
  expect(lines).toEqual(['4711 paid', '4712 open -0.25', '4713 overpaid 1'])
  expect(exitCode).toBe(0)
})

it('the approver bot votes with its service token for small transfers to known counterparties', async () => {
  const { value: group } = await administered.policyGroups.create({ code: 'bots', name: 'Bots' })
  const { value: bot } = await administered.serviceTokens.create({ name: 'Approver bot', groupIds: [group!.id] })
  await createPolicy(stack.vault, {
    code: 'bot-agrees',
    name: 'The bot agrees',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: group!.id }],
  })
  for (const actionType of ['counterparty_create', 'counterparty_update']) {
    await createPolicy(stack.vault, {
      code: `allow-${actionType.replace('_', '-')}`,
      name: 'Allow',
      actionType,
      effect: 'allow',
    })
  }
  const created = await treasury.counterparties.create({ name: 'Supplier', kind: 'company' })
  const addition = await treasury.counterparties.addAddress(created.value!.id, {
    network: 'ethereum',
    address: supplier,
  })
  expect(addition.pendingApproval).toBeNull()
  const order = (toAddress: string, amount: string) =>
    treasury.transfers.create({ fromAddressId: stack.address.id, toAddress, token: 'TUSD', amount })
  const known = await order(supplier, '10')
  const large = await order(supplier, '1000.01')
  const unknown = await order('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC', '10')
  const { lines, exitCode } = await run('approver-bot.js', bot!.token!, '1000')
  expect(lines.sort()).toEqual(
    [`${known.id} approved pending`, `${large.id} left to people`, `${unknown.id} left to people`].sort(),
  )
  expect(exitCode).toBe(0)
  expect((await treasury.transfers.wait(known.id)).status).toBe('confirmed')
  expect((await treasury.transfers.get(large.id)).status).toBe('awaiting_approval')
})

it('the report download writes a PDF for each account', async () => {
  const target = join(folder, 'statements')
  const [from, to] = ['2020-01-01', '2099-01-01']
  const { lines, exitCode, output } = await run('report-download.js', stack.treasurer.token, from, to, target)
  expect(exitCode, output).toBe(0)
  expect(readdirSync(target).sort()).toEqual([`Operations-ETH-${from}.pdf`, `Operations-TUSD-${from}.pdf`])
  for (const line of lines) expect(readFileSync(line).subarray(0, 4).toString()).toBe('%PDF')
  expect(lines.every((line) => existsSync(line))).toBe(true)
})

it('the policies in code become the policies of the vault, and a second run changes nothing', async () => {
  const admin = await addMember(stack.test, stack.vault, stack.vault.admin.email)
  const first = await run('policies-in-code.js', admin.token)
  expect(first.exitCode, first.output).toBe(0)
  expect(first.lines).toEqual(
    expect.arrayContaining(['code-small created', 'code-large created', 'code-ceiling created', '50000.01 block']),
  )
  expect(first.lines).toContain('bot-agrees not in code')
  const { id } = (await administered.policies.list({ limit: 100 }).page()).items.find(
    ({ code }) => code === 'code-small',
  )!
  await administered.policies.update(id, { name: 'Changed by hand' })
  const second = await run('policies-in-code.js', admin.token)
  expect(second.lines).toEqual(
    expect.arrayContaining(['code-small updated', 'code-large unchanged', 'code-ceiling unchanged']),
  )
})
