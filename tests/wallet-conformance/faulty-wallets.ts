import { setTimeout as sleep } from 'node:timers/promises'
import { otherVaultToken, vaultToken } from '../../wallet/src/testing/wallet-client.ts'
import {
  answerWith,
  authorize,
  type Body,
  bodyOf,
  during,
  edit,
  is,
  jsonReply,
  permit,
  rewrite,
  rewriteBody,
  type Which,
} from './mistakes.ts'
import type { Call, Fault } from './stand.ts'

/** The check that must fail, what the wallet service does wrong, and the relay that does it. */
export type FaultyWallet = [check: string, mistake: string, fault: Fault]

const always: Which = () => true
const isHealth = is('GET', /^\/healthz/)
const isDerivation = is('POST', /^\/addresses/)
const isOrder = is('POST', /^\/transfers$/)
const isState = is('GET', /^\/transfers\//)
const isStates = is('GET', /^\/transfers\?ids=/)
const isReplacement = is('POST', /^\/transfers\/.+\/(speed-up|cancel-on-chain)$/)
const isTransaction = is('GET', /^\/transactions\//)
const isAccountKey = is('GET', /^\/xpub/)
const isBalance = is('GET', /^\/balances/)
const isFee = is('POST', /^\/fees$/)
const isSecondClient: Which = ({ headers }) => headers.authorization === `Bearer ${otherVaultToken}`
const isAnonymous: Which = ({ headers }) => headers.authorization === undefined
const has =
  (member: string, value: unknown): Which =>
  (call) =>
    bodyOf(call)[member] === value
const all =
  (...which: Which[]): Which =>
  (call) =>
    which.every((matches) => matches(call))
const asFirst = (call: Call) => authorize(call, vaultToken)

const balance = { balance: '0', blockNumber: 1 }
const estimate = { fee: '1', asset: 'native' }
const unaffordable = (2n ** 200n).toString()

const clients: FaultyWallet[] = [
  ['health.answers', 'leaves out the status', edit(isHealth, ({ networks }) => ({ networks }))],
  ['health.network', 'has another name for the network', edit(isHealth, () => ({ status: 'ok', networks: [] }))],
  ['auth.missing-token', 'estimates fees without a token', rewrite(all(isFee, isAnonymous), asFirst)],
  [
    'auth.wrong-token',
    'compares the first characters of the token only',
    rewrite(({ headers }) => headers.authorization === `Bearer ${vaultToken}A`, asFirst),
  ],
  [
    'auth.other-scheme',
    'takes the token from the query',
    rewrite(is('POST', /access_token/), (call) => ({ ...asFirst(call), path: '/addresses' })),
  ],
  ['auth.before-body', 'looks at the body first', answerWith(all(isAnonymous, has('unexpected', true)), 400)],
  ['auth.keys-of-clients', 'has one seed for all clients', during('auth.keys-of-clients', rewrite(always, asFirst))],
  ['auth.transfers-of-clients', 'shows transfers to all', rewrite(all(isState, isSecondClient), asFirst)],
  [
    'auth.balances-of-clients',
    'shows balances to all',
    during('auth.balances-of-clients', answerWith(isBalance, 200, balance)),
  ],
  [
    'auth.senders-of-clients',
    'signs for addresses of all clients',
    during('auth.senders-of-clients', answerWith(isOrder, 202)),
  ],
  ['auth.ids-of-clients', 'has one space of ids', answerWith(all(isOrder, isSecondClient), 409)],
]

const accountKeys: FaultyWallet[] = [
  [
    'account-keys.signed',
    'signs without the challenge of the question',
    during(
      'account-keys.signed',
      rewrite(isAccountKey, ({ path }) => ({ path: withChallenge(path, 'A'.repeat(43)) })),
    ),
  ],
  [
    'account-keys.same',
    'has a new signer each time',
    during('account-keys.same', edit(isAccountKey, countSignersUp())),
  ],
  [
    'account-keys.addresses',
    'shows the key of another account',
    during(
      'account-keys.addresses',
      rewrite(isAccountKey, ({ path }) => ({ path: path.replace(/%2F9000(?=&)/, '%2F9001') })),
    ),
  ],
  [
    'account-keys.clients',
    'has one seed for all clients',
    during('account-keys.clients', rewrite(all(isAccountKey, isSecondClient), asFirst)),
  ],
  [
    'account-keys.form',
    'shows the keys of single addresses',
    during(
      'account-keys.form',
      rewrite(isAccountKey, ({ path }) => ({ path: path.replace(/(%2F9000)%2F0(?=&)/, '$1') })),
    ),
  ],
]

const isAuthority = is('GET', /^\/authority$/)
const isNextAuthority = is('POST', /^\/authority$/)
const signedOrder = (call: Call) =>
  ((bodyOf(call).authorization as { order?: object })?.order ?? {}) as Record<string, unknown>
const refusedAs = (code: string, as: string): Fault =>
  edit(isOrder, (body) => ({ ...body, details: String(body.details).replace(code, as) }), 403)
/** Accepts an order that the check expects to be refused. */
const taken = (check: string, which: Which = always): Fault => during(check, answerWith(all(isOrder, which), 202))

const signedOrders: FaultyWallet[] = [
  [
    'authority.shown',
    'shows the hash of something else',
    during(
      'authority.shown',
      edit(isAuthority, (body) => ({ ...body, hash: 'a'.repeat(64) })),
    ),
  ],
  [
    'authority.unsigned',
    'takes orders without authorization',
    taken('authority.unsigned', (call) => bodyOf(call).authorization === undefined),
  ],
  [
    'authority.other-order',
    'compares the amount only',
    taken('authority.other-order', (call) => signedOrder(call).amount === bodyOf(call).amount),
  ],
  ['authority.expired', 'accepts expired orders', taken('authority.expired')],
  ['authority.version', 'ignores the version', taken('authority.version')],
  [
    'authority.forged',
    'answers another code',
    during('authority.forged', refusedAs('SIGNATURE_INVALID', 'KEY_UNKNOWN')),
  ],
  [
    'authority.not-initiated',
    'counts approvals only',
    during('authority.not-initiated', refusedAs('NOT_INITIATED', 'VOTES_MISSING')),
  ],
  ['authority.votes-missing', 'counts votes and not persons', taken('authority.votes-missing')],
  ['authority.accepted', 'checks the signatures of a repetition first', refusesRepetition()],
  ['authority.replayed', 'does not compare the id', taken('authority.replayed')],
  ['authority.unprotected', 'ignores signatures that it cannot check', taken('authority.unprotected')],
  ['authority.next-version', 'accepts any version', answerWith(isNextAuthority, 200)],
  ['stops.order', 'forgets a stop', taken('stops.order')],
  ['stops.payout', 'stops single orders only', taken('stops.payout')],
  ['stops.refused', 'accepts stops of strangers', during('stops.refused', permit(is('POST', /^\/stops$/)))],
  ['next-authority.waits', 'does not wait', during('next-authority.waits', edit(isNextAuthority, inForceAtOnce))],
  ['next-authority.signed-by', 'names nobody', saysSigners(() => undefined)],
  ['next-authority.signed-by', 'leaves out the last who signed', saysSigners((persons) => persons.slice(0, -1))],
  ['next-authority.signed-by', 'names somebody who did not sign', saysSigners((persons) => [...persons, 'stranger'])],
  [
    'next-authority.signed-by',
    'names a person in place of another',
    saysSigners(([, ...others]) => ['stranger', ...others]),
  ],
  ['next-authority.signed-by', 'names a person twice', saysSigners((persons) => [...persons, ...persons.slice(0, 1)])],
  [
    'next-authority.too-few',
    'counts votes and not persons',
    during('next-authority.too-few', permit(is('POST', /^\/authority\/cancel$/))),
  ],
  [
    'next-authority.cancelled',
    'forgets what was cancelled',
    during('next-authority.cancelled', permit(isNextAuthority)),
  ],
]

/** Changes the list of the persons who signed the waiting version. */
function saysSigners(change: (persons: string[]) => string[] | undefined): Fault {
  const falsify = ({ pending, ...body }: Record<string, unknown>) => {
    const { signedBy, ...rest } = Object(pending) as { signedBy: string[] }
    return { ...body, pending: pending == null ? null : { ...rest, signedBy: change(signedBy) } }
  }
  return during(
    'next-authority.signed-by',
    edit(({ path }) => path === '/authority', falsify),
  )
}

function inForceAtOnce({ pending, ...body }: Record<string, unknown>) {
  return { ...body, ...(pending as object | null), pending: null }
}

function refusesRepetition(): Fault {
  let count = 0
  return during('authority.accepted', async (call, forward) => {
    if (isOrder(call)) count += 1
    return isOrder(call) && count === 2 ? jsonReply(403, {}) : await forward()
  })
}

function withChallenge(path: string, challenge: string): string {
  return path.replace(/challenge=.*$/, `challenge=${challenge}`)
}

function countSignersUp() {
  let count = 0
  return (body: Record<string, unknown>) => {
    count += 1
    return { ...body, key: `${String(body.key).slice(0, -2)}${10 + (count % 90)}` }
  }
}

const addresses: FaultyWallet[] = [
  [
    'addresses.derive',
    'answers 201',
    during('addresses.derive', async (_call, forward) => ({ ...(await forward()), status: 201 })),
  ],
  [
    'addresses.checksum',
    'writes addresses in lower case',
    edit(isDerivation, ({ address }) => ({ address: String(address).toLowerCase() })),
  ],
  ['addresses.same-path', 'counts addresses up', during('addresses.same-path', countPathsUp())],
  ['addresses.concurrent', 'stores a new path twice', during('addresses.concurrent', countPathsUp())],
  [
    'addresses.other-path',
    'leaves out the last number',
    during(
      'addresses.other-path',
      rewriteBody(isDerivation, ({ derivationPath }) => ({
        derivationPath: String(derivationPath).split('/').slice(0, 5).join('/'),
      })),
    ),
  ],
  [
    'addresses.path-range',
    'takes 2^31-1 for too large',
    answerWith((call) => /2147483647$/.test(String(bodyOf(call).derivationPath)), 400),
  ],
  [
    'addresses.path-form',
    'accepts leading zeros',
    rewrite(isDerivation, ({ body }) => ({ body: body.replace('/01"', '/1"') })),
  ],
  [
    'addresses.coin-type',
    'ignores coinType',
    rewriteBody(
      (call) => String(bodyOf(call).derivationPath).startsWith('m/44/61/'),
      () => ({ coinType: 61 }),
    ),
  ],
  [
    'addresses.network',
    'takes an empty network for the first one',
    rewriteBody(all(isDerivation, has('network', '')), () => ({ network: 'ethereum' })),
  ],
  [
    'addresses.unknown-field',
    'drops unknown fields',
    during(
      'addresses.unknown-field',
      rewriteBody(isDerivation, () => ({ label: undefined })),
    ),
  ],
  ['addresses.types', 'converts texts to numbers', rewriteBody(has('coinType', '60'), () => ({ coinType: 60 }))],
  [
    'addresses.required',
    'has a coin type of its own',
    during(
      'addresses.required',
      rewriteBody(isDerivation, () => ({ coinType: 60 })),
    ),
  ],
]

const questions: FaultyWallet[] = [
  [
    'balances.form',
    'leaves out the block',
    during(
      'balances.form',
      edit(isBalance, () => ({ balance: '0' })),
    ),
  ],
  ['balances.empty-contract', 'knows no empty contract', answerWith(is('GET', /contract=$/), 400)],
  ['balances.token', 'knows the coin only', answerWith(is('GET', /contract=0x/), 400)],
  ['balances.foreign', 'answers for every address', answerWith(is('GET', /address=0x0+dEaD/), 200, balance)],
  ['balances.lower-case', 'demands EIP-55 form', answerWith(is('GET', /address=0x[0-9a-f]{40}(&|$)/), 400)],
  ['balances.checksum', 'verifies no checksum', rewrite(isBalance, ({ path }) => ({ path: lowerCased(path) }))],
  [
    'balances.parameters',
    'ignores unknown parameters',
    rewrite(isBalance, ({ path }) => ({ path: path.replace('&contrakt=', '') })),
  ],
  [
    'fees.form',
    'does not name the asset',
    during(
      'fees.form',
      edit(isFee, ({ fee }) => ({ fee })),
    ),
  ],
  ['fees.impossible', 'refuses what cannot be paid', answerWith(all(isFee, has('amount', unaffordable)), 409)],
  ['fees.token', 'knows the coin only', answerWith((call) => isFee(call) && bodyOf(call).contractAddress != null, 400)],
  [
    'fees.foreign',
    'answers for every address',
    answerWith((call) => isFee(call) && /dEaD/.test(String(bodyOf(call).fromAddress)), 200, estimate),
  ],
  ['fees.amounts', 'accepts JSON numbers', answerWith(all(isFee, has('amount', 1000)), 200, estimate)],
  ['fees.fields', 'drops unknown fields', rewriteBody(all(isFee, has('speed', 'fast')), () => ({ speed: undefined }))],
]

const orders: FaultyWallet[] = [
  [
    'orders.accepted',
    'does not say how deep the block is',
    edit(isOrder, (body) => ({ ...body, confirmations: undefined })),
  ],
  [
    'orders.echo',
    'answers another amount',
    during(
      'orders.echo',
      edit(isOrder, (body) => ({ ...body, amount: '1' })),
    ),
  ],
  ['orders.state', 'has another form in GET', edit(isState, (body) => ({ ...body, confirmations: undefined }))],
  ['orders.never-accepted', 'invents a state', during('orders.never-accepted', answerWith(isState, 200))],
  [
    'orders.several',
    'shows transfers to all',
    during('orders.several', rewrite(all(isStates, isSecondClient), asFirst)),
  ],
  [
    'orders.several',
    'leaves one out',
    edit(isStates, ({ transfers }) => ({ transfers: (transfers as Body[]).slice(1) })),
  ],
  ['orders.repeat', 'refuses repetitions', during('orders.repeat', fromTheSecond(isOrder, 409))],
  ['orders.concurrent', 'refuses repetitions', during('orders.concurrent', fromTheSecond(isOrder, 409))],
  ['orders.conflict', 'ignores other amounts', during('orders.conflict', fromTheSecond(isOrder, 202))],
  [
    'orders.conflict-changes-nothing',
    'stores the second order',
    during(
      'orders.conflict-changes-nothing',
      edit(isState, (body) => ({ ...body, amount: (2n ** 200n + 2n).toString() })),
    ),
  ],
  ['orders.conflict-race', 'accepts them all', during('orders.conflict-race', fromTheSecond(isOrder, 202))],
  ['orders.sender', 'ignores the path', during('orders.sender', answerWith(isOrder, 202))],
  ['orders.refused-is-unknown', 'stores refused orders', during('orders.refused-is-unknown', answerWith(isState, 200))],
  [
    'orders.impossible',
    'names no code',
    edit(isState, (body) => ({ ...body, failureReason: body.failureReason && 'no' })),
  ],
]

const fields: FaultyWallet[] = [
  ['order-fields.ids', 'knows ids of up to 100 characters', answerWith(is('GET', /^\/transfers\/.{101,}/), 414)],
  ['order-fields.wrong-ids', 'accepts spaces', answerWith((call) => / x$/.test(String(bodyOf(call).id)), 202)],
  ['order-fields.amounts', 'accepts exponents', answerWith(all(isOrder, has('amount', '1e18')), 202)],
  ['order-fields.zero', 'accepts zero', answerWith(all(isOrder, has('amount', '0')), 202)],
  [
    'order-fields.largest-amount',
    'has 64-bit amounts',
    answerWith(all(isOrder, has('amount', (2n ** 256n - 1n).toString())), 400),
  ],
  [
    'order-fields.checksum',
    'verifies no checksum',
    during(
      'order-fields.checksum',
      rewriteBody(isOrder, ({ toAddress }) => ({ toAddress: lowerCased(String(toAddress)) })),
    ),
  ],
  [
    'order-fields.lower-case',
    'demands EIP-55 form',
    answerWith((call) => isOrder(call) && /^0x[0-9a-f]{40}$/.test(String(bodyOf(call).toAddress)), 400),
  ],
  ['order-fields.recipient', 'accepts names', answerWith(all(isOrder, has('toAddress', 'vitalik.eth')), 202)],
  ['order-fields.network', 'accepts __proto__', answerWith(all(isOrder, has('network', '__proto__')), 202)],
  [
    'order-fields.unknown',
    'drops unknown fields',
    during(
      'order-fields.unknown',
      rewriteBody(isOrder, () => ({ memo: undefined })),
    ),
  ],
  [
    'order-fields.required',
    'takes an absent contract for the coin',
    rewriteBody(isOrder, ({ contractAddress }) => (contractAddress === undefined ? { contractAddress: null } : {})),
  ],
]

const hostile: FaultyWallet[] = [
  ['errors.form', 'leaves unknown paths to its router', answerWith(is('GET', /^\/no-such/), 404, { statusCode: 404 })],
  ['errors.fields', 'names no fields', edit(always, (body) => ({ ...body, details: [] }), 400)],
  ['errors.conflict', 'lists fields on a conflict', edit(always, (body) => ({ ...body, details: [] }), 409)],
  ['errors.broken-json', 'accepts forms', answerWith(({ body }) => body === 'network=ethereum', 200)],
  ['hostile.large-body', 'reads bodies of any size', answerWith(({ body }) => body.length > 1_000_000, 200)],
  ['hostile.deep-json', 'accepts nesting of any depth', answerWith(({ body }) => body.includes('[[[['), 200)],
  ['hostile.not-an-object', 'takes a list for an order', answerWith(({ body }) => body === '[]', 202)],
  ['hostile.prototype', 'drops __proto__', answerWith(({ body }) => body.includes('"__proto__":{'), 200)],
  ['hostile.text', 'drops zero bytes', rewrite(always, ({ body }) => ({ body: body.replace('\\u0000', '') }))],
  [
    'hostile.content-type',
    'reads JSON of every type',
    rewrite(
      ({ headers }) => headers['content-type'] === 'text/plain',
      ({ headers }) => ({ headers: { ...headers, 'content-type': 'application/json' } }),
    ),
  ],
  ['hostile.methods', 'accepts DELETE', answerWith(({ method }) => method === 'DELETE', 200)],
  [
    'hostile.ids-in-paths',
    'decodes first',
    rewrite(is('GET', /^\/transfers\/..%2fhealthz$/), () => ({ path: '/healthz' })),
  ],
  [
    'hostile.repeated-parameter',
    'takes the last one',
    rewrite(is('GET', /address=.*address=/), ({ path }) => ({ path: path.replace(/&address=\w+/, '') })),
  ],
  [
    'hostile.slow-senders',
    'refuses other requests',
    during(
      'hostile.slow-senders',
      answerWith(({ body }) => body !== '', 429),
    ),
  ],
  ['limits.order-time', 'signs before it answers', during('limits.order-time', late(10_500))],
  ['limits.concurrency', 'has one worker', during('limits.concurrency', oneAtATime())],
]

const replacement: FaultyWallet[] = [
  ['replacement.order', 'ignores maxFee', during('replacement.order', fromTheSecond(isOrder, 202))],
  ['replacement.fields', 'does not know the fields', during('replacement.fields', answerWith(isOrder, 202))],
  ['replacement.unknown', 'finds every transfer', during('replacement.unknown', answerWith(always, 202))],
]

/** Mistakes that any answer of the run shows, whichever checks run. */
const wholeRun: FaultyWallet[] = [
  [
    'run.json',
    'says that it answers text',
    async (_call, forward) => ({ ...(await forward()), headers: { 'content-type': 'text/plain' } }),
  ],
  ['run.no-server-error', 'answers 500', during('start', answerWith(isDerivation, 500))],
  ['run.no-redirect', 'redirects', during('start', answerWith(isDerivation, 308))],
  ['run.time', 'is slow', during('start', late(10_500))],
  [
    'run.size',
    'answers too many bytes',
    during(
      'start',
      edit(always, (body) => ({ ...body, trace: 'x'.repeat(70_000) })),
    ),
  ],
  [
    'run.no-secrets',
    'echoes headers',
    during(
      'start',
      edit(always, (body, { headers }) => ({ ...body, headers })),
    ),
  ],
]

const isChanges = is('GET', /^\/transfers\/changes/)
/** No mistake: the operation is optional. */
export const withoutChanges: Fault = answerWith(isChanges, 404, { error: 'Not Found', message: 'no', code: 404 })

type Changes = { changes: Body[]; cursor: string }

/** Falsifies the answers of `GET /transfers/changes` to one check. */
function inChanges(check: string, change: (page: Changes, call: Call) => unknown): FaultyWallet[2] {
  return during(
    check,
    edit(isChanges, (body, call) => change(body as Changes, call), 200),
  )
}

const changesFaults: FaultyWallet[] = [
  ['changes.begin', 'lists a change without a cursor', listsAtOnce()],
  ['changes.complete', 'skips a late commit', skipsOne()],
  ['changes.once', 'repeats a page', repeatsPage()],
  ['changes.ends', 'never ends its answers', neverEnds()],
  ['changes.forward', 'lets its cursor fall back', fallsBack()],
  ['changes.repeat', 'forgets what it has listed', forgetsListed()],
  ['changes.state', 'lets a status go back', inChanges('changes.state', statusesBack)],
  ['changes.waits', 'waits to the end', during('changes.waits', waitsToTheEnd())],
  ['changes.clients', 'lists the transfers of another client', during('changes.clients', ofFirstClient())],
  ['changes.restart', 'forgets its cursors when it is restarted', during('changes.restart', forgetsCursors())],
  ['changes.restore', 'takes the cursor of a lost change', during('changes.restore', takesLostCursors())],
  ['changes.many', 'shortens a long answer', inChanges('changes.many', shortens)],
  [
    'changes.query',
    'takes any limit',
    during(
      'changes.query',
      rewrite(is('GET', /limit=0/), () => ({ path: '/transfers/changes' })),
    ),
  ],
]

const isAccepted = is('GET', /^\/accepted/)
type Accepted = { entries: Body[] }

const acceptedFaults: FaultyWallet[] = [
  [
    'accepted.complete',
    'lists no addresses',
    during(
      'accepted.complete',
      edit(
        isAccepted,
        (body) => ({ ...body, entries: (body as Accepted).entries.filter(({ kind }) => kind !== 'address') }),
        200,
      ),
    ),
  ],
  [
    'accepted.once',
    'lists each entry twice',
    during(
      'accepted.once',
      edit(
        isAccepted,
        (body) => ({ ...body, entries: (body as Accepted).entries.flatMap((entry) => [entry, entry]) }),
        200,
      ),
    ),
  ],
  ['accepted.clients', 'has one list for all', rewrite(all(isAccepted, isSecondClient), asFirst)],
  ['accepted.restart', 'forgets its entries when it is restarted', during('accepted.restart', forgetsEntries())],
  ['accepted.restore', 'takes the cursor of lost entries', during('accepted.restore', takesAnyCursor())],
  [
    'accepted.query',
    'takes any limit',
    during(
      'accepted.query',
      rewrite(is('GET', /limit=0/), () => ({ path: '/accepted' })),
    ),
  ],
]

export const faultyWallets: FaultyWallet[] = [
  ...clients,
  ...addresses,
  ...accountKeys,
  ...signedOrders,
  ...questions,
  ...orders,
  ...fields,
  ...changesFaults,
  ...acceptedFaults,
  ...hostile,
  ...replacement,
  ...wholeRun,
]

/** Mistakes with the amounts of the purse. */
export const faultyPayers: FaultyWallet[] = [
  ['payments.confirmed', 'has no block times', edit(isState, (body) => ({ ...body, blockTime: null }))],
  ['payments.progress', 'goes back to queued', during('payments.confirmed', goesBack())],
  [
    'payments.hash',
    'answers hashes without 0x',
    edit(isState, (body) => ({ ...body, txHash: body.txHash && String(body.txHash).slice(2) })),
  ],
  ['transactions.payment', 'lists no payments', edit(isTransaction, (body) => ({ ...body, payments: [] }))],
  ['transactions.unknown', 'knows every transaction', answerWith(isTransaction, 200)],
  ['payments.once', 'carries out a repeated order again', during('payments.confirmed', twice())],
  ['payments.fee', 'estimates the fee', edit(isState, (body) => ({ ...body, fee: body.fee && '1' }))],
  ['payments.final', 'counts confirmations for ever', countsOn()],
  [
    'payments.repeat-after-end',
    'forgets what is final',
    during(
      'payments.repeat-after-end',
      edit(isOrder, (body) => ({ ...body, status: 'queued' })),
    ),
  ],
  [
    'payments.conflict-after-end',
    'compares open orders only',
    during('payments.conflict-after-end', answerWith(isOrder, 202)),
  ],
  [
    'payments.parallel',
    'has one hash for all',
    during(
      'payments.parallel',
      edit(isState, (body) => ({ ...body, txHash: `0x${'0'.repeat(64)}` })),
    ),
  ],
  [
    'payments.token',
    'pays less tokens',
    during(
      'payments.token',
      rewriteBody(isOrder, () => ({ amount: '999' })),
    ),
  ],
  [
    'payments.token-overdraw',
    'takes a reverted transaction for a success',
    during(
      'payments.token-overdraw',
      edit(isState, (body) => ({ ...body, status: 'confirmed' })),
    ),
  ],
  [
    'replacement.max-fee',
    'ignores the limit',
    during(
      'replacement.max-fee',
      rewriteBody(isOrder, () => ({ maxFee: undefined })),
    ),
  ],
  [
    'replacement.unsigned',
    'leaves the transfer queued',
    during(
      'replacement.unsigned',
      edit(isReplacement, (body) => ({ ...body, status: 'queued' })),
    ),
  ],
  ['replacement.final', 'replaces what is final', during('replacement.final', answerWith(isReplacement, 202))],
]

/** Derives another address at each request. */
function countPathsUp(): Fault {
  let count = 0
  return rewriteBody(isDerivation, ({ derivationPath }) => {
    count += 1
    return { derivationPath: `${derivationPath}/${count}` }
  })
}

function forgetsEntries(): Fault {
  let isRestarted = false
  return async (call, forward) => {
    if (isHealth(call)) isRestarted = true
    if (isRestarted && isAccepted(call)) return jsonReply(200, { entries: [], count: 0, cursor: 'anew' })
    return await forward()
  }
}

function takesAnyCursor(): Fault {
  return async (call, forward) => {
    const answer = await forward()
    if (!isAccepted(call) || answer.status !== 410) return answer
    return jsonReply(200, { entries: [], count: 0, cursor: 'any' })
  }
}

function fromTheSecond(which: Which, status: number): Fault {
  let count = 0
  return async (call, forward) => {
    if (!which(call)) return await forward()
    count += 1
    return count === 1 ? await forward() : jsonReply(status, {})
  }
}

function late(milliseconds: number): Fault {
  return async (_call, forward) => {
    await sleep(milliseconds)
    return await forward()
  }
}

function oneAtATime(): Fault {
  let busy = 0
  return async (_call, forward) => {
    busy += 1
    try {
      return busy > 1 ? jsonReply(429, {}) : await forward()
    } finally {
      busy -= 1
    }
  }
}

/** Answers that the transfer is queued again after it was broadcast, before its final state. */
function goesBack(): Fault {
  let count = 0
  return edit(isState, (body) => {
    count += 1
    return count === 1 ? { ...body, status: 'broadcast' } : count === 2 ? { ...body, status: 'queued' } : body
  })
}

/** Orders the same again under another id when an order is repeated. */
function twice(): Fault {
  let count = 0
  return async (call, forward) => {
    const answer = await forward()
    if (isOrder(call)) count += 1
    if (isOrder(call) && count === 2) {
      await forward({ body: JSON.stringify({ ...bodyOf(call), id: `${bodyOf(call).id}-again` }) })
    }
    return answer
  }
}

function countsOn(): Fault {
  let count = 0
  return edit(isState, (body) => {
    count += 1
    return { ...body, confirmations: body.status === 'confirmed' ? count : body.confirmations }
  })
}

function listsAtOnce(): Fault {
  let listed: unknown
  return async (call, forward) => {
    const answer = await forward()
    if (isOrder(call) && answer.status === 202) listed = bodyOf(answer)
    if (!isChanges(call) || answer.status !== 200) return answer
    const isBeginning = listed !== undefined && !call.path.includes('after=')
    return isBeginning ? jsonReply(200, { ...bodyOf(answer), changes: [listed] }) : answer
  }
}

function skipsOne(): Fault {
  let late: unknown
  return inChanges('changes.complete', ({ changes, cursor }) => {
    late ??= changes.at(-1)?.id
    return { cursor, changes: changes.filter(({ id }) => id !== late) }
  })
}

function repeatsPage(): Fault {
  let isRepeated = false
  let listed: Body[] = []
  return inChanges('changes.once', ({ changes, cursor }) => {
    const repeated = !isRepeated && listed.length > 0 ? listed : []
    if (repeated.length > 0) isRepeated = true
    listed = changes
    return { cursor, changes: [...repeated, ...changes] }
  })
}

function neverEnds(): Fault {
  let last: Body[] = []
  return inChanges('changes.ends', ({ changes, cursor }) => {
    if (changes.length > 0) last = changes
    return { cursor, changes: changes.length > 0 ? changes : last }
  })
}

/** Repeats the cursor of the first page after the second page. */
function fallsBack(): Fault {
  const cursors: string[] = []
  return inChanges('changes.forward', ({ changes, cursor }) => {
    if (changes.length > 0) cursors.push(cursor)
    return { changes, cursor: changes.length > 0 && cursors.length === 2 ? cursors[0] : cursor }
  })
}

function forgetsListed(): Fault {
  const listed = new Set<unknown>()
  return inChanges('changes.repeat', ({ changes, cursor }) => {
    const fresh = changes.filter(({ id, status }) => !listed.has(`${id} ${status}`))
    for (const { id, status } of changes) listed.add(`${id} ${status}`)
    return { cursor, changes: fresh }
  })
}

function statusesBack({ changes, cursor }: Changes) {
  return { cursor, changes: changes.map((change) => ({ ...change, status: 'queued', failureReason: null })) }
}

function waitsToTheEnd(): Fault {
  return async (call, forward) => {
    if (!/wait=8/.test(call.path)) return await forward()
    const after = new URL(call.path, 'http://kit').searchParams.get('after')
    await sleep(8_100)
    return jsonReply(200, { changes: [], cursor: after })
  }
}

/** Answers the second client as if it were the first one. */
function ofFirstClient(): Fault {
  let cursor = ''
  return async (call, forward) => {
    if (!isChanges(call)) return await forward()
    if (!isSecondClient(call)) {
      const answer = await forward()
      if (!call.path.includes('after=')) cursor = String(bodyOf(answer).cursor)
      return answer
    }
    return call.path.includes('after=')
      ? await forward({ ...asFirst(call), path: `/transfers/changes?after=${cursor}` })
      : await forward()
  }
}

/** The kit asks for health after the restart, so the first such request shows that the service was restarted. */
function forgetsCursors(): Fault {
  const fresh = new Set<unknown>()
  let isRestarted = false
  return async (call, forward) => {
    if (isHealth(call)) isRestarted = true
    const answer = await forward()
    if (!isRestarted || !isChanges(call) || answer.status !== 200) return answer
    const after = new URL(call.path, 'http://kit').searchParams.get('after')
    if (after !== null && !fresh.has(after))
      return jsonReply(410, { error: 'Gone', message: 'no such cursor', code: 410, details: 'CURSOR_LOST: restarted' })
    fresh.add(bodyOf(answer).cursor)
    return answer
  }
}

function takesLostCursors(): Fault {
  return async (call, forward) => {
    const answer = await forward()
    if (!isChanges(call) || answer.status !== 410) return answer
    const cursor = new URL(call.path, 'http://kit').searchParams.get('after')
    return jsonReply(200, { changes: [], cursor })
  }
}

/** Shortens an answer, and keeps the cursor of the whole answer. */
function shortens({ changes, cursor }: Changes) {
  return { cursor, changes: changes.slice(0, 500) }
}

function lowerCased(text: string): string {
  return text.replace(/0x[0-9a-fA-F]{40}/, (address) => address.toLowerCase())
}
