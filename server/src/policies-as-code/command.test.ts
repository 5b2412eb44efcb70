import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createGovernanceBench, type GovernanceBench } from '../testing/governance-bench.ts'
import { applyRules, exportRules, planRules } from './command.ts'

let bench: GovernanceBench
let folder: string
let path: string
let url: string
let robot: string
let reader: string

beforeAll(async () => {
  bench = await createGovernanceBench()
  folder = await mkdtemp(join(tmpdir(), 'strongroom-policies-'))
  path = join(folder, 'rules.yaml')
  url = await bench.test.app.listen({ port: 0, host: '127.0.0.1' })
  robot = await tokenOf(bench.vault.groups.administrators)
  const groups = (await bench.vault.admin.get(`${bench.url}/policy-groups?limit=100`)).body.items
  reader = await tokenOf(groups.find(({ code }) => code === 'auditors')!.id)
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await bench.close()
})

async function tokenOf(groupId: string): Promise<string> {
  const { status, body } = await bench.vault.admin.post(`${bench.url}/service-tokens`, {
    name: 'CI',
    groupIds: [groupId],
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.token
}

type Terminal = NonNullable<Parameters<typeof planRules>[2]>

/** Runs a command as the service with this token. Returns the text that it printed, and its exit code. */
async function run(work: (terminal: Terminal) => Promise<void>, token = robot): Promise<{ out: string; code: number }> {
  const ran = { out: '', code: 0 }
  await work({
    env: { STRONGROOM_URL: url, STRONGROOM_TOKEN: token },
    print(text) {
      ran.out += `${text}\n`
    },
    exitWith(code) {
      ran.code = code
    },
  })
  return ran
}

const exported = (token?: string) => run((terminal) => exportRules('main-vault', { output: path }, terminal), token)
const plan = (token?: string) => run((terminal) => planRules(path, { backtest: true, days: '30' }, terminal), token)
const apply = () => run((terminal) => applyRules(path, { backtest: true, days: '30', timeout: '1' }, terminal))

/** Runs the command that waits for votes. Returns when it waits, so that a test votes only after that. */
async function applyAndWait(): Promise<{ ended: ReturnType<typeof run> }> {
  let ended: ReturnType<typeof run>
  await new Promise<void>((resolve, reject) => {
    ended = run((terminal) => {
      const print = (text: string) => {
        terminal.print(text)
        if (text.includes('waits for votes')) resolve()
      }
      return applyRules(path, { backtest: true, days: '30', timeout: '1', wait: true }, { ...terminal, print })
    })
    ended.catch(reject)
  })
  return { ended: ended! }
}

/** Changes the file, as a person does with an editor. */
async function edit(change: (text: string) => string): Promise<void> {
  const text = await readFile(path, 'utf8')
  expect(change(text)).not.toBe(text)
  await writeFile(path, change(text))
}
const addPolicy = (code: string) => (text: string) =>
  text.replace(
    'policies:\n',
    `policies:
  # Agreed in November.
  - code: ${code}
    group: members
    name: "Up to 1,000: anybody"
    actionType: transfer
    effect: allow
    rules:
      - require: [{ amount: { op: lte, value: "1000" } }, { initiatorGroup: members }]
`,
  )

it('exports the rules, and finds no differences', async () => {
  await exported()
  expect(await readFile(path, 'utf8')).toContain('- member@example.org')
  expect(await plan()).toEqual({
    out: expect.stringMatching(/^No difference: the rules are at version \d+\.\n$/),
    code: 0,
  })
  expect(await apply()).toMatchObject({ code: 0 })
})

it('applies its plan at once without governance, and plans with a token that only reads', async () => {
  await edit((text) => text.replace(/^policies: \[\]$/m, 'policies:'))
  await edit(addPolicy('small'))
  const planned = await plan(reader)
  expect(planned.code).toBe(2)
  expect(planned.out).toContain('+ policy "small"\n')
  expect(planned.out).toContain('Loosening: it may permit more than the rules do now.\n')
  expect(planned.out).toMatch(/Backtest of 30 days, \d+ decisions: /)
  await expect(
    run((terminal) => applyRules(path, { backtest: false, days: '30', timeout: '1' }, terminal), reader),
  ).rejects.toThrow(/auditor_reads_only/)
  const applied = await apply()
  expect(applied).toMatchObject({ code: 0, out: expect.stringMatching(/Applied as version \d+\.\n$/) })
  expect((await plan(reader)).out).toMatch(/^No difference/)
  await exported()
  expect(await readFile(path, 'utf8')).toContain('# Agreed in November.\n  - code: small')
})

it('leaves no draft behind when the backtest fails', async () => {
  const before = await readFile(path, 'utf8')
  await edit((text) => text.replace('"Up to 1,000: anybody"', '"Up to 1,000: all"'))
  const { fetch } = globalThis
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
    String(input).endsWith('/policies/backtest') ? Promise.reject(new Error('the line went dead')) : fetch(input, init),
  )
  await expect(apply()).rejects.toThrow('the line went dead')
  vi.restoreAllMocks()
  const { body } = await bench.vault.admin.get(`${bench.url}/change-sets?open=true`)
  expect(body.items).toEqual([])
  await writeFile(path, before)
})

it('creates a group with members, moves a policy to it, and undoes both', async () => {
  const before = await readFile(path, 'utf8')
  await edit((text) =>
    text.replace(
      'groups:\n',
      'groups:\n  - { code: board, name: Board, members: [member@example.org, second@example.org] }\n',
    ),
  )
  await edit((text) => text.replace('    group: members\n    name: "Up', '    group: board\n    name: "Up'))
  const planned = await plan()
  expect(planned.out).toContain('+ group "board"')
  expect(planned.out).toContain('It leaves out the changes of groups')
  expect(await apply()).toMatchObject({ code: 0 })
  expect(await plan()).toMatchObject({ code: 0 })
  await writeFile(path, before)
  expect((await plan()).out).toContain('- group "board"')
  expect(await apply()).toMatchObject({ code: 0 })
  await exported()
  expect(await plan()).toMatchObject({ code: 0 })
})

it('contains the approval of categories and the state of variants', async () => {
  const { vault } = bench
  const { status, body } = await vault.admin.post(`${bench.url}/operation-categories`, {
    key: 'cost_center',
    name: 'Cost center',
  })
  expect(status, JSON.stringify(body)).toBe(201)
  await exported()
  const before = await readFile(path, 'utf8')
  await edit((text) =>
    text
      .replace(
        'categories: []',
        `categories:
  - key: cost_center
    approvalScope: edit
    approvalThreshold: 1
    approvers:
      - group: members`,
      )
      .replace(
        / {2}- route: purpose\n {4}code: payroll\n/,
        `  - { route: purpose, code: bonus, pathId: 3, name: Bonus, token: USDT }
  # Since October.
  - route: purpose
    code: payroll
    enabled: false
    token: ETH
`,
      ),
  )
  const { out, code } = await plan(reader)
  expect(code).toBe(2)
  expect(out).toContain('+ category "cost_center"\n')
  expect(out).toContain('~ variant "purpose payroll"\n    enabled: true → false\n    tokenId: none → "ETH"\n')
  expect(out).toContain('+ variant "purpose bonus"\n')
  expect(out).toContain('Loosening: ')
  expect(await apply()).toMatchObject({ code: 0 })
  expect(await plan()).toMatchObject({ code: 0, out: expect.stringMatching(/^No difference/) })
  await exported()
  expect(await readFile(path, 'utf8')).toContain('  # Since October.\n  - route: purpose\n    code: payroll\n')
  const category = (await vault.admin.get(`${bench.url}/operation-categories/${body.id}`)).body
  expect(category).toMatchObject({ approvalScope: 'edit', approvalThreshold: 1 })
  expect(category.approvers).toMatchObject([{ groupId: bench.membersId }])
  const { routes } = (await vault.admin.get(bench.url)).body
  const variants = routes.find((route) => route.code === 'purpose')!.variants
  expect(variants.map((variant) => [variant.code, variant.enabled, variant.tokenId])).toEqual([
    ['ops', true, null],
    ['payroll', false, vault.tokens.eth.id],
    ['bonus', true, vault.tokens.usdt.id],
  ])
  // Added variants stay, disabled. The category keeps its approvers until it needs approval again.
  await writeFile(path, before)
  const back = await plan()
  expect(back.out).toContain('- category "cost_center"\n')
  expect(back.out).toContain('~ variant "purpose bonus"\n    enabled: true → false\n')
  expect(await apply()).toMatchObject({ code: 0 })
  expect(await plan()).toMatchObject({ code: 0 })
  await edit((text) =>
    text.replace('categories: []', 'categories: [{ key: cost_center, approvalScope: edit, approvalThreshold: 1 }]'),
  )
  expect(await apply()).toMatchObject({ code: 0 })
  expect(await plan()).toMatchObject({ code: 0 })
})

it('asks for votes once, and waits for them', async () => {
  expect((await bench.govern({ threshold: 1 })).status).toBe(200)
  await exported()
  await edit(addPolicy('medium'))
  const applied = await apply()
  expect(applied.code).toBe(3)
  const [, id] = /The change set (\S+) waits for votes\./.exec(applied.out)!
  expect((await apply()).out).toContain(`The change set ${id} waits for votes.`)
  const open = (await bench.vault.admin.get(`${bench.url}/change-sets?open=true`)).body.items
  expect(open).toHaveLength(1)

  const { ended } = await applyAndWait()
  const { requestId } = await bench.changeSet(id!)
  // A change that a service asks for needs one person more.
  for (const admin of bench.admins.slice(0, 2)) expect((await bench.approve(admin, requestId!)).status).toBe(200)
  expect(await ended).toMatchObject({ code: 0, out: expect.stringMatching(/Applied as version \d+\.\n$/) })
  expect((await plan()).code).toBe(0)
})

it('fails when voters object', async () => {
  await edit(addPolicy('refused'))
  const { out } = await apply()
  const [, id] = /The change set (\S+) waits/.exec(out)!
  const { ended } = await applyAndWait()
  const { requestId } = await bench.changeSet(id!)
  await bench.vault.admin.post(`${bench.url}/approval-requests/${requestId}/reject`)
  await expect(ended).rejects.toThrow('The change set is rejected')
})

it('sends its token over TLS only, and names missing settings', async () => {
  const withUrl = (STRONGROOM_URL: string | undefined) => ({
    env: { STRONGROOM_URL, STRONGROOM_TOKEN: robot },
    print: () => {},
    exitWith: () => {},
  })
  const faults = { backtest: false, days: '30' }
  await expect(planRules(path, faults, withUrl(undefined))).rejects.toThrow('STRONGROOM_URL is not set')
  await expect(planRules(path, faults, withUrl('http://vault.example.org'))).rejects.toThrow('must begin with https://')
  await expect(planRules(path, faults, withUrl('https://user@vault.example.org'))).rejects.toThrow('is not an address')
  await expect(planRules(path, { ...faults, days: '0' }, withUrl(url))).rejects.toThrow('--days must be')
  await expect(plan('a token of nobody')).rejects.toThrow(/401/)
})
