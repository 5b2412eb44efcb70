import { type KeyObject, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import { DerivedAddress, expectAnswer } from './answers.ts'
import { type Answer, exchange, type Redact } from './http-exchange.ts'
import { pollMilliseconds, stepMillisecondsMax, unaffordable } from './limits.ts'
import { Blocked } from './outcomes.ts'
import type { WebhookListener } from './webhook-listener.ts'

/** The families whose forms the kit knows; of any other network it checks what holds everywhere. */
type NetworkType = 'evm' | 'bitcoin' | 'litecoin' | 'other'

export type Options = {
  /** Base URL of the wallet service. */
  url: string
  network: string
  coinType: number
  /** The kit's addresses are below m/44/<coinType>/<account>; no vault may use it. */
  account: number
  type: NetworkType
  /** The secret of the client that the checks act for, and of a second client, if there is one. */
  secret: string
  otherSecret: string | null
  /** The secret of a third client, which has an authority, and keys that this names: for what people sign. */
  protectedSecret: string | null
  authorityKeys: KitKey[]
  token: { contract: string; decimals: number } | null
  /** True if the checks may move funds of the purse. */
  spend: boolean
  webhooks: { host: string; port: number; secret: string } | null
  /** The time to wait for funds, for the end of a transfer, for a deposit. */
  waitSeconds: number
  /** Restarts the service. Null without `--restart-command`. */
  restart: Step | null
  /** Keep a backup of the database of the service, and restore it. Null without their commands. */
  backup: { keep: Step; restore: Step } | null
  /** The number of orders that the check of long lists places. Null without `--many`. */
  manyOrders: number | null
}

/** An action outside the protocol, by a command of the user. @throws Blocked if it fails */
type Step = () => Promise<void>

export type Client = 'main' | 'other' | 'protected'

/** An Ed25519 key of a service, by its id in the authority. */
export type KitKey = { id: string; privateKey: KeyObject }

type CallInit = {
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: string | Buffer
  /** null: without a secret. Default main. */
  client?: Client | null
  /** The whole header, instead of the one of the client. */
  authorization?: string
  /** null: without the header. Default application/json. */
  contentType?: string | null
}

export type OwnAddress = { derivationPath: string; address: string }

export type TransferOrder = {
  id: string
  network: string
  coinType: number
  derivationPath: string
  fromAddress: string
  toAddress: string
  contractAddress: string | null
  amount: string
}

export type AnswerSeen = Pick<Answer, 'status' | 'contentType' | 'bytes' | 'milliseconds' | 'exchange'> & {
  isJson: boolean
  showsSecret: boolean
}

/** The part of the run that a check works with. */
export type WalletUnderTest = {
  options: Options
  listener: WebhookListener | null
  call(method: string, path: string, init?: CallInit): Promise<Answer>
  /** An address of this run by a name; the same name gives the same path. */
  addressOf(name: string, client?: Client): Promise<OwnAddress>
  /** The address that pays for transfers; the same in every run. */
  purse(): Promise<OwnAddress>
  pathOf(name: string): string
  /** An order that can never move anything, because its amount is more than any address holds. */
  order(changes?: Partial<TransferOrder>): Promise<TransferOrder>
  nextId(): string
  /** Runs a step, and waits until the service answers again. @throws Blocked */
  take(step: Step): Promise<void>
  /** Makes something once for all checks. When it fails, `owner` fails, and the checks that build on it are skipped. */
  share<T>(key: string, owner: string, make: () => Promise<T>): Promise<T>
  answersSeen: readonly AnswerSeen[]
}

type Run = {
  options: Options
  agent: Agent
  listener: WebhookListener | null
  /** Ids of the checks of this run. */
  selected: ReadonlySet<string>
}

/** @returns what a check with this id works with; all of them share the run */
export function openWallet({ options, agent, listener, selected }: Run): (checkId: string) => WalletUnderTest {
  const made = new Map<string, Promise<unknown>>()
  const answersSeen: AnswerSeen[] = []
  const runNumber = randomInt(1, 2 ** 31)
  const names = new Map<string, number>()
  let orders = 0

  const send = openSender(options, agent, answersSeen)
  const pathOf = (name: string): string => {
    if (!names.has(name)) names.set(name, names.size)
    return `m/44/${options.coinType}/${options.account}/${runNumber}/${names.get(name)}`
  }

  return (checkId) => {
    const call: WalletUnderTest['call'] = (method, path, init) => send(checkId, method, path, init)
    const share = async <T>(key: string, owner: string, make: () => Promise<T>): Promise<T> => {
      const known = made.get(key) as Promise<T> | undefined
      const making = known ?? make()
      made.set(key, making)
      try {
        return await making
      } catch (error) {
        if (checkId === owner || !selected.has(owner)) throw error
        throw new Blocked(`it builds on ${owner}, which did not pass`)
      }
    }
    const derive = (derivationPath: string, client: Client): Promise<OwnAddress> =>
      share(`address ${client} ${derivationPath}`, 'addresses.derive', async () => {
        const body = { network: options.network, coinType: options.coinType, derivationPath }
        const { address } = expectAnswer(await call('POST', '/addresses', { body, client }), 200, DerivedAddress)
        return { derivationPath, address }
      })
    const addressOf = (name: string, client: Client = 'main') => derive(pathOf(name), client)
    const nextId = () => {
      orders += 1
      return `conformance-${runNumber}-${orders}`
    }
    return {
      options,
      listener,
      call,
      addressOf,
      purse: () => derive(`m/44/${options.coinType}/${options.account}/0`, 'main'),
      pathOf,
      async order(changes = {}) {
        const [sender, recipient] = [await addressOf('sender'), await addressOf('recipient')]
        return {
          id: nextId(),
          network: options.network,
          coinType: options.coinType,
          derivationPath: sender.derivationPath,
          fromAddress: sender.address,
          toAddress: recipient.address,
          contractAddress: null,
          amount: unaffordable.toString(),
          ...changes,
        }
      },
      nextId,
      async take(step) {
        await step()
        await awaitAnswer(options, agent, checkId)
      },
      share,
      answersSeen,
    }
  }
}

/** Waits for a 200 of `/healthz`. The checks of the whole run do not see these answers, because the service is starting. */
async function awaitAnswer({ url }: Options, agent: Agent, checkId: string): Promise<void> {
  const headers = { 'user-agent': userAgentOf(checkId) }
  const deadline = Date.now() + stepMillisecondsMax
  const ask = () =>
    exchange(url.replace(/\/+$/, ''), agent, { method: 'GET', path: '/healthz', headers }, (text) => text)
  while ((await ask()).status !== 200) {
    if (Date.now() > deadline) throw new Blocked('The wallet service does not answer GET /healthz with 200 any more')
    await sleep(pollMilliseconds)
  }
}

// Names the check in the logs of the wallet service.
const userAgentOf = (checkId: string) => `strongroom-wallet-conformance (${checkId || 'start'})`

type Send = (checkId: string, ...call: Parameters<WalletUnderTest['call']>) => Promise<Answer>

/** Sends requests with the credentials of a client, and notes every answer. */
function openSender(options: Options, agent: Agent, answersSeen: AnswerSeen[]): Send {
  const base = options.url.replace(/\/+$/, '')
  const redact = redactionOf(options)
  return async (checkId: string, method: string, path: string, init: CallInit = {}): Promise<Answer> => {
    const { body, raw, client = 'main', authorization, contentType = 'application/json' } = init
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const secrets = { main: options.secret, other: options.otherSecret, protected: options.protectedSecret }
    const secret = client === null ? null : secrets[client]
    const credentials = authorization ?? (client === null ? null : `Bearer ${secret}`)
    const headers = {
      accept: 'application/json',
      'user-agent': userAgentOf(checkId),
      ...(credentials === null ? {} : { authorization: credentials }),
      ...(content === undefined || contentType === null ? {} : { 'content-type': contentType }),
    }
    const answer = await exchange(
      base,
      agent,
      { method, path, headers, ...(content === undefined ? {} : { body: content }) },
      redact,
    )
    const { status, contentType: type, bytes, milliseconds, exchange: shown, text } = answer
    const showsSecret = secretsOf(options).some((value) => text.includes(value))
    const isJson = answer.json !== undefined
    answersSeen.push({ status, contentType: type, bytes, milliseconds, exchange: shown, isJson, showsSecret })
    return answer
  }
}

const secretsOf = ({ secret, otherSecret, protectedSecret, webhooks }: Options): string[] =>
  [secret, otherSecret, protectedSecret, webhooks?.secret].filter(
    (value): value is string => value != null && value !== '',
  )

/** Credentials are left out whole: a check may send a part of a secret. */
function redactionOf(options: Options): Redact {
  const secrets = secretsOf(options).flatMap((secret) => [secret, encodeURIComponent(secret)])
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, '<secret>'), text)
      .replace(/^(Bearer|Basic|Token)\b.*$/s, '$1 <secret>')
}
