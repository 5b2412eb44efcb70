import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createGovernanceBench, type GovernanceBench } from '../testing/governance-bench.ts'
import { applyRules, planRules } from './command.ts'

/** docs/policies-as-code.md: its file is applied, and its workflow does what it says. */
const manual = await readFile(new URL('../../../docs/policies-as-code.md', import.meta.url), 'utf8')
const blocks = (kind: string) =>
  [...manual.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, language]) => language === kind)
    .map(([, , text]) => text!)
const [rules, workflow] = blocks('yaml')

let bench: GovernanceBench
let folder: string
let terminal: Parameters<typeof planRules>[2] & object
const ran = { out: '', code: 0 }

beforeAll(async () => {
  bench = await createGovernanceBench()
  folder = await mkdtemp(join(tmpdir(), 'strongroom-manual-'))
  const STRONGROOM_URL = await bench.test.app.listen({ port: 0, host: '127.0.0.1' })
  const groupIds = [bench.vault.groups.administrators]
  const { body } = await bench.vault.admin.post(`${bench.url}/service-tokens`, { name: 'CI', groupIds })
  terminal = {
    env: { STRONGROOM_URL, STRONGROOM_TOKEN: body.token },
    print(text) {
      ran.out += `${text}\n`
    },
    exitWith(code) {
      ran.code = code
    },
  }
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await bench.close()
})

it('the file of docs/policies-as-code.md is applied, and its plan prints the text of the page', async () => {
  const path = join(folder, 'rules.yaml')
  await writeFile(path, rules!)
  const flags = { backtest: true, days: '30' }
  await applyRules(path, { ...flags, timeout: '1' }, terminal)
  expect(ran.out).toMatch(/Applied as version \d+\.\n$/)
  ran.out = ''
  await writeFile(path, rules!.replace('approvalThreshold: 2', 'approvalThreshold: 1'))
  await planRules(path, flags, terminal)
  const numbers = (text: string) => text.replace(/\d+(\.\d+)?/g, '#')
  expect(numbers(ran.out)).toBe(numbers(blocks('')[0]!))
  expect(ran.code).toBe(2)
})

it('the commands of docs/policies-as-code.md exist', () => {
  const commands = [...manual.matchAll(/strongroom policy (\w+)([^\n`]*)/g)]
  expect(commands.length).toBeGreaterThan(4)
  for (const [line, verb, rest] of commands) {
    expect(['export', 'plan', 'apply'], line).toContain(verb)
    for (const [flag] of rest!.matchAll(/--[a-z-]+/g)) expect(['--wait', '--timeout', '--output'], line).toContain(flag)
  }
})

const secret = (name: string) => `$\{{ secrets.${name} }}`
type Job = { if: string; env: Record<string, string>; steps: { run?: string }[] }

it('its workflow plans with a token that only reads, and does not treat a difference as a failure', () => {
  const { on, jobs } = parse(workflow!) as { on: Record<string, unknown>; jobs: Record<'plan' | 'apply', Job> }
  expect(Object.keys(on)).toEqual(['pull_request', 'push'])
  expect(jobs.plan.if).toContain('pull_request')
  expect([jobs.plan, jobs.apply].map(({ env }) => env.STRONGROOM_TOKEN)).toEqual([
    secret('STRONGROOM_READER'),
    secret('STRONGROOM_ADMINISTRATOR'),
  ])
  const script = jobs.plan.steps.find(({ run }) => run !== undefined)!.run!
  // As a runner does: sh -e, with a command line that ends with this code.
  const endsWith = (code: number) =>
    spawnSync('sh', ['-ec', `strongroom() { return ${code}; }\n${script}`], { stdio: 'ignore' }).status === 0
  expect([0, 1, 2, 3].map(endsWith)).toEqual([true, false, true, false])
  expect(jobs.apply.steps.at(-1)!.run).toMatch(/^strongroom policy apply rules\.yaml --wait/)
})
