import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, openApi } from './client.ts'
import type { RulesFile } from './rules-file.ts'
import { toFile } from './to-file.ts'
import {
  backtest,
  type ChangeSet,
  cancelChangeSet,
  draftChangeSet,
  fetchChangeSet,
  fetchRules,
  findWaiting,
  type Plan,
  planFile,
  submitChangeSet,
  triedPolicies,
} from './vault-rules.ts'
import { backtestInWords, differencesInWords, directionInWords, namesIn, plain } from './words.ts'
import { readRules, writeRules } from './yaml-text.ts'

/** The exit codes for CI: the file differs from the rules, and a change set waits for votes. A failure is 1. */
const differs = 2
const waits = 3

/** The input and output of a command besides its files. */
export type Terminal = {
  env: Parameters<typeof openApi>[0]
  print(text: string): void
  exitWith(code: number): void
}
const ofProcess: Terminal = {
  env: process.env,
  print: (text) => void process.stdout.write(`${text}\n`),
  exitWith(code) {
    process.exitCode = code
  },
}

const filesBytesMax = 4 * 1024 * 1024

/** `strongroom policy export`: prints the rules, or writes them into a file whose comments stay. */
export async function exportRules(
  vault: string,
  { output }: { output?: string },
  { env, print } = ofProcess,
): Promise<void> {
  const { document, known } = await fetchRules(openApi(env), vault)
  const file = toFile(vault, document, known.people)
  if (output === undefined) return print(writeRules(file).trimEnd())
  writeFileSync(output, writeRules(file, existsSync(output) ? readText(output) : undefined))
}

type PlanFlags = { backtest: boolean; days: string }

/** `strongroom policy plan`: prints the changes that the file would make, and makes none. */
export async function planRules(path: string, { days, ...flags }: PlanFlags, terminal = ofProcess): Promise<void> {
  const { print } = terminal
  const [file, period] = [readRules(readText(path)), readDays(days)]
  const api = openApi(terminal.env)
  const plan = await planFile(api, file)
  if (plan.changes.length === 0) return print(`No difference: the rules are at version ${plan.number}.`)
  printPlan(terminal, file, plan, plan)
  if (flags.backtest) {
    const { policies, isWhole } = triedPolicies(plan)
    const found = await backtest(api, file.vault, { draft: { mode: 'add', policies } }, period)
    print(backtestInWords(found, period))
    if (!isWhole) print('It leaves out the changes of groups, which the backtest of the change set includes.')
  }
  terminal.exitWith(differs)
}

type ApplyFlags = PlanFlags & { wait?: true; timeout: string; title?: string }

/** `strongroom policy apply`: opens a change set with the differences, and asks for the votes on it. */
export async function applyRules(
  path: string,
  { days, timeout, ...flags }: ApplyFlags,
  terminal = ofProcess,
): Promise<void> {
  const { print } = terminal
  const [file, period] = [readRules(readText(path)), readDays(days)]
  const minutes = readWhole('--timeout', timeout, 1, 43_200)
  const api = openApi(terminal.env)
  const plan = await planFile(api, file)
  if (plan.changes.length === 0) return print(`No difference: the rules are at version ${plan.number}.`)
  const waiting = await findWaiting(api, file.vault, plan)
  const set = waiting ?? (await draftChangeSet(api, file.vault, plan, flags.title ?? `Rules of ${path}`.slice(0, 200)))
  printPlan(terminal, file, plan, set)
  if (flags.backtest) {
    try {
      print(backtestInWords(await backtest(api, file.vault, { changeSetId: set.id }, period), period))
    } catch (error) {
      if (waiting === null) await cancelChangeSet(api, file.vault, set.id)
      throw error
    }
  }
  const isApplied = waiting === null && (await submitChangeSet(api, file.vault, set.id))
  if (!isApplied) print(`The change set ${set.id} waits for votes.`)
  const found = flags.wait
    ? await untilEnded(api, file.vault, set.id, minutes)
    : await fetchChangeSet(api, file.vault, set.id)
  finish(terminal, found)
}

const pollMillisecondsMax = 10_000
const isOpen = ({ status }: ChangeSet) => status === 'draft' || status === 'pending' || status === 'scheduled'

async function untilEnded(api: Api, vault: string, id: string, minutes: number): Promise<ChangeSet> {
  const end = Date.now() + minutes * 60_000
  for (let pause = 250; ; pause = Math.min(2 * pause, pollMillisecondsMax)) {
    const set = await fetchChangeSet(api, vault, id)
    if (!isOpen(set) || Date.now() > end) return set
    await sleep(pause)
  }
}

function finish({ print, exitWith }: Terminal, set: ChangeSet): void {
  if (set.status === 'applied') print(`Applied as version ${set.appliedVersion}.`)
  else if (isOpen(set)) exitWith(waits)
  else throw new Error(plain(`The change set is ${set.status}${set.failureReason ? `: ${set.failureReason}` : ''}`))
}

function printPlan(
  { print }: Terminal,
  { vault }: RulesFile,
  plan: Plan,
  { direction }: Pick<Plan, 'direction'>,
): void {
  print(`${vault}, rules at version ${plan.number}:`)
  const names = namesIn([plan.present, plan.wanted], plan.known.people)
  for (const line of differencesInWords(plan.differences, names)) print(line)
  print(directionInWords(direction))
}

function readText(path: string): string {
  const bytes = readFileSync(path)
  if (bytes.length > filesBytesMax) throw new Error(`${path} is larger than ${filesBytesMax} bytes`)
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

const readDays = (text: string) => readWhole('--days', text, 1, 366)

function readWhole(name: string, text: string, min: number, max: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new Error(`${name} must be a whole number from ${min} to ${max}`)
  }
  return number
}
