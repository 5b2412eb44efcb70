import { createHash, sign } from 'node:crypto'
import { canonicalJson, type SignedVote, type Vote } from '@strongroom/sdk/signing'
import Type, { type Static } from 'typebox'
import { expectAnswer, expectStatus, expectThat, textOf } from './answers.ts'
import type { Answer } from './http-exchange.ts'
import { Blocked } from './outcomes.ts'
import type { KitKey, TransferOrder, WalletUnderTest } from './wallet-under-test.ts'

/** The fields of an authority that the checks of signed orders read; its hash covers the other fields. */
const Authority = Type.Object({
  vaultId: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  keys: Type.Array(Type.Object({ id: Type.String(), person: Type.String() })),
  groups: Type.Array(Type.Object({ id: Type.String(), persons: Type.Array(Type.String()) })),
  addresses: Type.Array(Type.Object({ network: Type.String(), address: Type.String() })),
  change: Type.Object({ group: Type.String(), votes: Type.Integer({ minimum: 1 }) }),
  delayHours: Type.Optional(Type.Integer({ minimum: 0 })),
  rules: Type.Array(
    Type.Object({
      network: Type.String(),
      contractAddress: Type.Union([Type.String(), Type.Null()]),
      initiators: Type.String(),
      perDay: Type.Union([Type.String(), Type.Null()]),
      floors: Type.Array(
        Type.Object({ above: Type.String(), to: Type.String(), group: Type.String(), votes: Type.Integer() }),
      ),
    }),
  ),
})
const Pending = Type.Object({
  version: Type.Integer(),
  hash: Type.String(),
  inForceAt: Type.String(),
  signedBy: Type.Optional(Type.Array(Type.String())),
})
export const Shown = Type.Object({
  authority: Authority,
  version: Type.Integer(),
  hash: Type.String(),
  pending: Type.Optional(Type.Union([Pending, Type.Null()])),
})
export type Shown = Static<typeof Shown>

export const hashOf = (document: unknown): string => createHash('sha256').update(canonicalJson(document)).digest('hex')

/** The authority in force, once for all checks. @throws Blocked when the client has none */
export function shownAuthority(wallet: WalletUnderTest): Promise<{ shown: Shown; answer: Answer }> {
  return wallet.share('authority', 'authority.shown', async () => {
    const answer = await wallet.call('GET', '/authority', { client: 'protected' })
    if ([404, 405, 501].includes(answer.status))
      throw new Blocked('The client of WALLET_PROTECTED_TOKEN has no authority')
    return { shown: expectAnswer(answer, 200, Shown), answer }
  })
}

/** An order as people sign it. */
export type SignedOrder = Record<string, unknown> & { transferId: string; expiresAt: string; amount: string }
export type Key = KitKey & { person: string }

/** The signers of an order: its initiator, and the approvers that the strictest floor requires. */
export type Signers = { initiator: Key; approvers: Key[]; fewer: Key[]; amount: string }

const hourMilliseconds = 3_600_000

/** An order of the coin to a fresh address, from one that holds nothing: nothing moves even if it is signed. */
export async function newOrder(
  wallet: WalletUnderTest,
  changes: Record<string, unknown> = {},
): Promise<{ body: TransferOrder; order: SignedOrder; shown: Shown }> {
  const { shown } = await shownAuthority(wallet)
  const { authority } = shown
  const sender = await wallet.addressOf('protected sender', 'protected')
  const recipient = await wallet.addressOf('protected recipient', 'protected')
  const { network, coinType } = wallet.options
  const body: TransferOrder = {
    id: wallet.nextId(),
    network,
    coinType,
    derivationPath: sender.derivationPath,
    fromAddress: sender.address,
    toAddress: recipient.address,
    contractAddress: null,
    amount: '1',
    ...(typeof changes.amount === 'string' ? { amount: changes.amount } : {}),
  }
  const { id, ...fields } = body
  const order = {
    ...fields,
    transferId: id,
    vaultId: authority.vaultId,
    initiatorId: authority.keys[0]!.person,
    fromAddressId: 'conformance-address',
    tokenId: 'conformance-token',
    rulesVersion: 1,
    expiresAt: new Date(Date.now() + hourMilliseconds).toISOString(),
    ...changes,
  }
  return { body, order, shown }
}

/** The votes of these keys on an order, under this authority. */
export function votesOn(
  order: SignedOrder,
  { hash: authority }: Pick<Shown, 'hash'>,
  initiator: Key | null,
  approvers: Key[],
): SignedVote[] {
  const about = { hash: hashOf(order), authority }
  const initiated = initiator === null ? [] : [voteOf(initiator, { ...about, decision: 'initiate' })]
  return [...initiated, ...approvers.map((key) => voteOf(key, { ...about, decision: 'approve' }))]
}

type About = Pick<Vote, 'hash' | 'authority' | 'decision'> & Partial<Pick<Vote, 'subject'>>

/** The vote of a key, on a transfer unless it says otherwise. */
export function voteOf({ id, person, privateKey }: Key, about: About): SignedVote {
  const signedAt = new Date().toISOString()
  const vote: Vote = { format: 'strongroom-vote-2', subject: 'transfer', person, signedAt, ...about }
  const signature = sign(null, Buffer.from(canonicalJson(vote)), privateKey).toString('base64url')
  return { vote, keyId: id, signature }
}

/** Hands an order over with what authorises it. */
export function handOver(wallet: WalletUnderTest, body: TransferOrder, authorization?: unknown): Promise<Answer> {
  const sent = authorization === undefined ? body : { ...body, authorization }
  return wallet.call('POST', '/transfers', { body: sent, client: 'protected' })
}

/** @throws Violation unless the answer has this status and details that begin with this code */
export function expectCode(answer: Answer, status: number, code: string, what: string): void {
  expectStatus(answer, status, what)
  const details = textOf(answer, 'details') ?? ''
  expectThat(
    details.startsWith(`${code}:`),
    `${what}: details is ${JSON.stringify(details)}, expected ${code}: …`,
    answer,
  )
}

/** @throws Violation unless the order is a 403 with this code, and was not stored */
export async function expectRefusal(
  wallet: WalletUnderTest,
  { id }: TransferOrder,
  answer: Answer,
  code: string,
  what: string,
): Promise<void> {
  expectCode(answer, 403, code, what)
  const state = await wallet.call('GET', `/transfers/${id}`, { client: 'protected' })
  expectStatus(state, 404, `${what}: the state of the order that was refused`)
}

/** The keys of the kit that the authority names, with their persons. */
export function keysOf({ options }: WalletUnderTest, { authority }: Shown): Key[] {
  return options.authorityKeys.flatMap((key) => {
    const person = authority.keys.find(({ id }) => id === key.id)?.person
    return person === undefined ? [] : [{ ...key, person }]
  })
}

/** An order that enough keys of the kit have signed, and who they are. */
export async function newSignedOrder(wallet: WalletUnderTest) {
  const { shown } = await shownAuthority(wallet)
  const { initiator, approvers, amount } = signersOf(wallet, shown)
  const made = await newOrder(wallet, { amount, initiatorId: initiator.person })
  const votes = votesOn(made.order, shown, initiator, approvers)
  const authorization = { order: made.order, authorityVersion: shown.version, votes }
  return { ...made, initiator, approvers, authorization }
}

/**
 * Whose signatures an order of the coin needs, as the authority says, from the keys of the kit.
 * @throws Blocked when they are not enough, or no rule asks for approvals
 */
export function signersOf(wallet: WalletUnderTest, shown: Shown): Signers {
  const { network } = wallet.options
  const { authority } = shown
  const keys = keysOf(wallet, shown)
  const personsOf = (group: string) => authority.groups.find(({ id }) => id === group)?.persons ?? []
  const rule = authority.rules.find((candidate) => candidate.network === network && candidate.contractAddress === null)
  if (rule === undefined) throw new Blocked(`No rule of the authority names the coin of ${network}`)
  const strictest = rule.floors.toSorted((a, b) => b.votes - a.votes)[0]
  if (strictest === undefined) throw new Blocked('The rule of the coin asks for no approval')
  const amount = rule.floors.reduce((most, { above }) => (BigInt(above) > most ? BigInt(above) : most), 0n) + 1n
  if (rule.perDay !== null && amount > BigInt(rule.perDay)) throw new Blocked('perDay of the coin is below its floors')
  for (const initiator of keys.filter(({ person }) => personsOf(rule.initiators).includes(person))) {
    const others = keys.filter(({ person }) => person !== initiator.person)
    const of = (group: string) => others.filter(({ person }) => personsOf(group).includes(person))
    if (rule.floors.some(({ group, votes }) => new Set(of(group).map(({ person }) => person)).size < votes)) continue
    const enough = of(strictest.group).slice(0, strictest.votes - 1)
    const fewer = others.filter((key) => !of(strictest.group).includes(key) || enough.includes(key))
    return { initiator, approvers: others, fewer, amount: amount.toString() }
  }
  throw new Blocked('The keys of --authority-keys are not enough for the rule of the coin')
}
