import { changeTx } from './faulty-senders.ts'
import type { FaultyWallet } from './faulty-wallets.ts'
import { answerWith, type Body, bodyOf, during, edit, is, rewrite, rewriteBody, type Which } from './mistakes.ts'
import type { Call, Fault } from './stand.ts'

const isHealth = is('GET', /^\/healthz/)
const isDerivation = is('POST', /^\/addresses/)
const isOrder = is('POST', /^\/transfers$/)
const isFee = is('POST', /^\/fees$/)
const isState = is('GET', /^\/transfers\/[^/]+$/)
const isQuote = is('GET', /^\/transfers\/.+\/replacement$/)
const isTransaction = is('GET', /^\/transactions\//)
const isAsked: Which = (call) => isOrder(call) || isFee(call)
const amountOf = (call: Call) => Number(bodyOf(call).amount)

/** Makes a mistake in the requests of one check only. */
const fault = (check: string, mistake: string, broken: Fault): FaultyWallet => [check, mistake, during(check, broken)]

/** Mistakes on Bitcoin and Litecoin that show without moving funds. */
export const faultyForms: FaultyWallet[] = [
  fault(
    'outputs.features',
    'says that the network is of EVM',
    edit(isHealth, ({ networks, ...rest }) => ({
      ...rest,
      networks: (networks as Body[]).map((network) => ({ ...network, type: 'evm' })),
    })),
  ),
  fault(
    'outputs.address-form',
    'answers addresses in capitals',
    edit(isDerivation, ({ address }) => ({ address: String(address).toUpperCase() })),
  ),
  fault(
    'outputs.derived',
    'shows the key of another account',
    rewrite(is('GET', /^\/xpub/), ({ path }) => ({ path: path.replace(/%2F9000(?=&)/, '%2F9001') })),
  ),
  fault(
    'outputs.coin-type',
    'derives with any coin type',
    answerWith((call) => isDerivation(call) && bodyOf(call).coinType === 60, 200, { address: 'bc1q' }),
  ),
  fault(
    'outputs.recipients',
    'knows bech32 only',
    answerWith((call) => isOrder(call) && /^[13LM]/.test(String(bodyOf(call).toAddress)), 400),
  ),
  fault(
    'outputs.capitals',
    'answers the recipient in the form of the order',
    edit(isOrder, (body, call) => ({ ...body, toAddress: bodyOf(call).toAddress })),
  ),
  fault('outputs.wrong-addresses', 'reads no checksums', answerWith(isOrder, 202)),
  fault(
    'outputs.contract',
    'overlooks a contract',
    rewriteBody(isAsked, () => ({ contractAddress: null })),
  ),
  fault('outputs.to-itself', 'previews what it refuses', answerWith(isFee, 200, { fee: '1', asset: 'native' })),
  fault(
    'outputs.dust',
    'accepts dust',
    rewriteBody(
      (call) => isAsked(call) && amountOf(call) < 2_940,
      () => ({ amount: '2940' }),
    ),
  ),
  fault(
    'outputs.foreign',
    'shows any balance',
    answerWith(is('GET', /^\/balances/), 200, { balance: '0', blockNumber: 1 }),
  ),
  fault('outputs.unknown-transaction', 'makes up a transaction', answerWith(isTransaction, 200)),
]

/** Mistakes in what is paid. */
export const faultyOutputs: FaultyWallet[] = [
  fault(
    'outputs.index',
    'counts outputs from 1',
    edit(isState, (body) => ({ ...body, index: Number(body.index) + 1 })),
  ),
  fault(
    'outputs.anchor',
    'drops the anchor',
    edit(isState, ({ anchor: _, ...rest }) => rest),
  ),
  fault(
    'outputs.hash',
    'writes hashes in capitals',
    edit(isState, (body) => ({ ...body, txHash: body.txHash === null ? null : String(body.txHash).toUpperCase() })),
  ),
  fault(
    'outputs.spent',
    'spends outputs of several addresses',
    edit(isTransaction, ({ spent, ...rest }) => {
      return { ...rest, spent: (spent as Body[]).map((output) => ({ ...output, address: null })) }
    }),
  ),
  fault(
    'outputs.change',
    'lists change as a payment',
    edit(isTransaction, ({ payments, ...rest }) => {
      const [first] = payments as Body[]
      return { ...rest, payments: [first, { ...first, index: 1, toAddress: first!.fromAddress }] }
    }),
  ),
  fault('outputs.later-first', 'replaces a payment whose change is spent', edit(isQuote, permitting('speedUp'))),
  fault('outputs.not-replaceable', 'cancels where nodes replace nothing', edit(isQuote, permitting('cancelOnChain'))),
  fault('outputs.no-change', 'pays more without change', edit(isQuote, permitting('speedUp'))),
]

/** Mistakes in what is reported; the relay stands between the service and the kit. */
export const faultyReports: FaultyWallet[] = [
  ['outputs.change-deposit', 'reports change as a deposit', reportsChange()],
  ['outputs.deposit', 'reports raw amounts', changeTx(() => ({ amount: '10000' }))],
]

/** Mistakes that every run of the suite makes; some of the others are left to `npm run nightly:conformance`. */
export const namedFaults = ['outputs.change-deposit', 'outputs.anchor', 'outputs.index', 'outputs.dust']

function permitting(action: 'speedUp' | 'cancelOnChain') {
  return (body: Body) => ({ ...body, [action]: { maxFee: '1' } })
}

function reportsChange(): Fault {
  return async (call, forward) => {
    const answer = await forward()
    const { id, tx, ...rest } = bodyOf(call)
    const { fromAddress } = tx as Body
    const change = { ...rest, id: `${id}-change`, tx: { ...(tx as Body), toAddress: fromAddress, index: 1 } }
    if (typeof fromAddress === 'string') await forward({ body: JSON.stringify(change) })
    return answer
  }
}
