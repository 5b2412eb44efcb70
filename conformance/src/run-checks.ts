import { categories } from './categories.ts'
import type { Category, Check, Need } from './check.ts'
import { openAgent } from './http-exchange.ts'
import { Blocked, CouldNotRun, type Exchange, Violation } from './outcomes.ts'
import { awaitFunds } from './payments.ts'
import { type Options, openWallet, type WalletUnderTest } from './wallet-under-test.ts'
import { listenForWebhooks } from './webhook-listener.ts'

export type Result = {
  id: string
  category: string
  title: string
  /** The rule of the protocol, and the page with it. */
  rule: string
  link: string
  status: 'passed' | 'failed' | 'skipped'
  /** The reason of a failed or skipped check. */
  reason?: string
  /** The requests and answers of a failed check. */
  exchanges?: Exchange[]
  advice?: string
  milliseconds: number
}

export type Report = {
  url: string
  network: string
  passed: number
  failed: number
  skipped: number
  results: Result[]
}

type Observer = {
  /** Shows a text that the person must read or act on now. */
  note(text: string): void
  onResult(result: Result): void
  /** Called with the URL at which the kit listens for deposits. */
  onListening?(url: string): void
}

const protocolPage = 'docs/wallet-protocol.md'

/**
 * Runs all checks, or the checks that `only` names by their ids or categories.
 * @throws CouldNotRun when the wallet service cannot be checked
 */
export async function runConformance(options: Options, only: string[], observer: Observer): Promise<Report> {
  const chosen = choose(only)
  const agent = openAgent()
  const selected = new Set(chosen.flatMap(({ checks }) => checks.map(({ id }) => id)))
  const usesWebhooks =
    options.webhooks !== null && options.spend && chosen.some(({ checks }) => uses(checks, 'webhooks'))
  const listener = usesWebhooks ? await listenForWebhooks(options.webhooks!.host, options.webhooks!.port) : null
  try {
    if (listener !== null) observer.onListening?.(listener.url)
    const walletFor = openWallet({ options, agent, listener, selected })
    const kit = walletFor('')
    await greet(kit)
    if (options.spend && chosen.some(({ checks }) => uses(checks, 'spend'))) await awaitFunds(kit, observer.note)
    const results: Result[] = []
    for (const category of chosen) {
      const run = async (check: Check) => {
        const result = await runCheck(category, check, walletFor(check.id))
        observer.onResult(result)
        return result
      }
      if (category.isConcurrent) results.push(...(await Promise.all(category.checks.map(run))))
      else for (const check of category.checks) results.push(await run(check))
    }
    const count = (status: Result['status']) => results.filter((result) => result.status === status).length
    const { url, network } = options
    return { url, network, passed: count('passed'), failed: count('failed'), skipped: count('skipped'), results }
  } catch (error) {
    if (error instanceof Violation) throw new CouldNotRun(error.message)
    throw error
  } finally {
    await listener?.stop()
    await agent.destroy()
  }
}

async function runCheck(category: Category, check: Check, wallet: WalletUnderTest): Promise<Result> {
  const { id, title, rule, section, advice } = check
  const told = { id, category: category.name, title, rule, link: `${protocolPage}#${section}` }
  const unmet = check.needs?.map((need) => reasonNotToHave(need, wallet.options)).find((reason) => reason !== null)
  if (unmet != null) return { ...told, status: 'skipped', reason: unmet, milliseconds: 0 }
  const startedAt = performance.now()
  const took = () => ({ milliseconds: Math.round(performance.now() - startedAt) })
  try {
    await check.run(wallet)
    return { ...told, status: 'passed', ...took() }
  } catch (error) {
    if (error instanceof Blocked) return { ...told, status: 'skipped', reason: error.message, ...took() }
    if (!(error instanceof Violation)) throw error
    return { ...told, status: 'failed', reason: error.message, exchanges: error.exchanges, advice, ...took() }
  }
}

function choose(only: string[]): Category[] {
  if (only.length === 0) return [...categories]
  const known = new Set(categories.flatMap(({ name, checks }) => [name, ...checks.map(({ id }) => id)]))
  const unknown = only.filter((name) => !known.has(name))
  if (unknown.length > 0) throw new CouldNotRun(`There is no check or category "${unknown.join('", "')}"`)
  return categories
    .map((category) => ({
      ...category,
      checks: category.checks.filter(({ id }) => only.includes(id) || only.includes(category.name)),
    }))
    .filter(({ checks }) => checks.length > 0)
}

const uses = (checks: Check[], need: Need) => checks.some((check) => check.needs?.includes(need))

function reasonNotToHave(need: Need, options: Options): string | null {
  if (need === 'otherClient') return options.otherSecret === null ? 'WALLET_OTHER_TOKEN is not set' : null
  const { type } = options
  if (need === 'evm') return type === 'evm' ? null : 'the network is not an EVM network (--type)'
  if (need === 'litecoin') return type === 'litecoin' ? null : 'the network is not Litecoin (--type)'
  if (need === 'outputs')
    return type === 'bitcoin' || type === 'litecoin' ? null : 'the network is neither Bitcoin nor Litecoin (--type)'
  if (need === 'token') return options.token === null ? '--token was not given' : null
  if (need === 'spend') return options.spend ? null : '--spend was not given'
  if (need === 'protected') return options.protectedSecret === null ? 'WALLET_PROTECTED_TOKEN is not set' : null
  if (need === 'authorityKeys') return options.authorityKeys.length === 0 ? '--authority-keys was not given' : null
  if (need === 'restart') return options.restart === null ? '--restart-command was not given' : null
  if (need === 'restore')
    return options.backup === null ? '--backup-command and --restore-command were not given' : null
  if (need === 'many') return options.manyOrders === null ? '--many was not given' : null
  return options.webhooks === null ? '--webhook-port was not given' : null
}

/** @throws CouldNotRun when the wallet service cannot be reached, or refuses a token or the network */
async function greet({ call, options, pathOf }: WalletUnderTest): Promise<void> {
  const health = await call('GET', '/healthz', { client: null })
  const { response } = health.exchange
  if ('fault' in response) throw new CouldNotRun(`${options.url} cannot be reached: ${response.fault}`)
  const { network, coinType } = options
  const body = { network, coinType, derivationPath: pathOf('plain') }
  const answer = await call('POST', '/addresses', { body })
  if (answer.status === 401) throw new CouldNotRun('The wallet service refuses WALLET_TOKEN')
  if (answer.status === 400 && /network/.test(answer.text)) {
    const shown = 'body' in answer.exchange.response ? answer.exchange.response.body : ''
    throw new CouldNotRun(`The wallet service refuses the network ${network} (--network): ${shown}`)
  }
  const others = [
    ['other', options.otherSecret, 'WALLET_OTHER_TOKEN'],
    ['protected', options.protectedSecret, 'WALLET_PROTECTED_TOKEN'],
  ] as const
  for (const [client, secret, variable] of others) {
    if (secret === null) continue
    const other = await call('POST', '/addresses', { body, client })
    if (other.status === 401) throw new CouldNotRun(`The wallet service refuses ${variable}`)
  }
}
