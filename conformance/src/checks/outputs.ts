import { setTimeout as sleep } from 'node:timers/promises'
import { compare, fromRaw } from '@strongroom/sdk/signing'
import {
  expectAnswer,
  expectStatus,
  expectThat,
  FieldFaults,
  TransactionState,
  type TransferState,
  textOf,
} from '../answers.ts'
import type { Category, Check } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { quietSeconds, spentAmount } from '../limits.ts'
import { Blocked, Violation } from '../outcomes.ts'
import { within } from '../payments.ts'
import {
  dustOf,
  isOwnForm,
  recipientsOf,
  type UtxoType,
  witnessAddressBelow,
  wrongAddressesOf,
} from '../utxo-address.ts'
import type { TransferOrder, WalletUnderTest } from '../wallet-under-test.ts'
import { show } from './account-keys.ts'
import { waiting } from './outputs-waiting.ts'
import { paid } from './payments.ts'

const section = 'families-of-networks' as const
const needs: Check['needs'] = ['outputs']
const spending: Check['needs'] = ['spend', 'outputs']
const refused = 'are a 400, in an order as in a preview.'

/** Bitcoin and Litecoin, whose addresses hold outputs of transactions. What moves funds is at the end. */
export const outputs: Category = {
  name: 'outputs',
  title: 'Bitcoin and Litecoin',
  checks: [
    {
      id: 'outputs.features',
      title: 'GET /healthz names the type of the network, and what it can do',
      section: 'get-healthz',
      rule: 'Optional for each network: type (evm, bitcoin, litecoin) and features',
      advice: 'Name the type and the features beside the height; a feature that you do not have is false, or none.',
      needs,
      async run({ call, options }) {
        const answer = await call('GET', '/healthz', { client: null })
        const { networks = [] } = (answer.json ?? {}) as { networks?: Record<string, unknown>[] }
        const { type, features } = networks.find(({ network }) => network === options.network) ?? {}
        if (type === undefined && features === undefined)
          throw new Blocked('GET /healthz names no type and no features')
        expectThat(type === options.type, `the type is ${type}`, answer)
        const { derives, replacement } = (features ?? {}) as Record<string, unknown>
        expectThat(typeof derives === 'boolean', 'features.derives is not true or false', answer)
        const isKnown = ['fee', 'child', 'none'].includes(String(replacement))
        expectThat(isKnown, 'features.replacement is not fee, child or none', answer)
      },
    },
    {
      id: 'outputs.address-form',
      title: 'Own addresses are P2WPKH of the main network, in lower-case bech32',
      section,
      rule: 'P2WPKH, bech32 in lower case',
      advice: 'Encode HASH160 of the public key with the prefix of the main network, also on a regtest node.',
      needs,
      async run(wallet) {
        for (const name of ['sender', 'recipient', 'form']) {
          const { address } = await wallet.addressOf(name)
          if (!isOwnForm(address, typeOf(wallet))) throw new Violation(`${address} is not an address of this form`)
        }
      },
    },
    {
      id: 'outputs.derived',
      title: 'The addresses of POST /addresses follow from the key of GET /xpub, whose script is p2wpkh',
      section: 'get-xpubnetworkderivationpathchallenge',
      rule: 'On Bitcoin and Litecoin m/44/2/1 is read as',
      advice: 'Read the path as BIP-84 does, with the purpose 84, and show the key of the account with its script.',
      needs,
      async run(wallet) {
        const { key, answer } = await show(wallet)
        if (key.script === undefined) throw new Blocked('GET /xpub names no script, so addresses are not checked')
        expectThat(key.script === 'p2wpkh', `the script is ${key.script}`, answer)
        for (const name of ['outputs.derived', 'sender', 'recipient']) {
          const { derivationPath, address } = await wallet.addressOf(name)
          const derived = witnessAddressBelow(key, derivationPath, typeOf(wallet))
          expectThat(derived === address, `${derivationPath} is ${address}, not ${derived}`, answer)
        }
      },
    },
    {
      id: 'outputs.coin-type',
      title: 'A coin type of another network is a 400',
      section,
      rule: 'a coin type of another network',
      advice: 'Accept the coin type of the network only, because the books name addresses by their path.',
      needs,
      async run({ call, options }) {
        const derivationPath = `m/44/60/${options.account}/0`
        const body = { network: options.network, coinType: 60, derivationPath }
        expectStatus(await call('POST', '/addresses', { body }), 400)
      },
    },
    {
      id: 'outputs.recipients',
      title: 'Recipients of every kind are accepted',
      section,
      rule: 'also P2WSH, taproot',
      advice: 'Read P2PKH, P2SH, P2WPKH, P2WSH and taproot of the main network.',
      needs,
      async run(wallet) {
        for (const [kind, toAddress] of recipientsOf(typeOf(wallet))) {
          const body = await wallet.order({ toAddress })
          expectStatus(await wallet.call('POST', '/transfers', { body }), 202, kind)
        }
      },
    },
    {
      id: 'outputs.capitals',
      title: 'Bech32 in capitals is read, and answered in lower case',
      section,
      rule: 'Bech32 in capitals is read, and answered in lower case.',
      advice: 'Store the one spelling of an address: Strongroom compares the state with its order.',
      needs,
      async run(wallet) {
        const { address } = await wallet.addressOf('recipient')
        const body = await wallet.order({ toAddress: address.toUpperCase() })
        const answer = await wallet.call('POST', '/transfers', { body })
        expectStatus(answer, 202)
        expectThat(textOf(answer, 'toAddress') === address, `toAddress is not ${address}`, answer)
      },
    },
    {
      id: 'outputs.wrong-addresses',
      title: 'What is no address of the main network is a 400 that names the field, in an order as in a preview',
      section,
      rule: 'in mixed case, with a wrong checksum or with a program that nobody can spend is a 400 that names the field;',
      advice:
        'Read addresses with the checksum of their network, and refuse programs that nobody, or everybody, can spend.',
      needs,
      async run(wallet) {
        for (const [fault, toAddress] of wrongAddressesOf(typeOf(wallet)))
          await expectRefused(wallet, { toAddress }, 'toAddress', fault)
      },
    },
    {
      id: 'outputs.contract',
      title: 'A contract is a 400, in an order as in a preview',
      section,
      rule: refused,
      advice: 'Accept null only: a network without contracts has one coin.',
      needs,
      async run(wallet) {
        const contractAddress = '0x000000000000000000000000000000000000dEaD'
        await expectRefused(wallet, { contractAddress }, 'contractAddress', 'a contract')
      },
    },
    {
      id: 'outputs.to-itself',
      title: 'A payment to the sender itself is a 400, in an order as in a preview',
      section,
      rule: refused,
      advice: 'Refuse it: payment and change could not be told apart.',
      needs,
      async run(wallet) {
        const { address: toAddress } = await wallet.addressOf('sender')
        await expectRefused(wallet, { toAddress }, 'toAddress', 'the sender')
      },
    },
    {
      id: 'outputs.dust',
      title: 'An amount below dust is a 400 that names the least amount, in an order as in a preview',
      section,
      rule: 'an amount below dust (the message names the least one)',
      advice: 'Compute dust for the script of the recipient: nodes relay no output below it, so that it never arrives.',
      needs,
      async run(wallet) {
        const dust = dustOf(typeOf(wallet))
        const answers = await expectRefused(wallet, { amount: `${dust - 1n}` }, 'amount', 'below dust')
        for (const answer of answers) expectThat(answer.text.includes(`${dust}`), `it does not name ${dust}`, answer)
        const body = await wallet.order({ amount: `${dust}` })
        expectStatus(await wallet.call('POST', '/transfers', { body }), 202, 'the least amount')
      },
    },
    {
      id: 'outputs.foreign',
      title: 'Balance and fee of an address that is not the client’s are a 404',
      section: 'errors',
      rule: "the address is not the client's",
      advice: 'Answer for addresses that this client has derived.',
      needs,
      async run(wallet) {
        const { network } = wallet.options
        const [[, address]] = recipientsOf(typeOf(wallet)) as [[string, string]]
        const query = new URLSearchParams({ network, address })
        expectStatus(await wallet.call('GET', `/balances?${query}`), 404, 'the balance')
        expectStatus(await preview(wallet, { fromAddress: address }), 404, 'the fee')
      },
    },
    {
      id: 'outputs.unknown-transaction',
      title: 'A transaction that the chain does not have is a 404',
      section: 'get-transactionshashnetwork',
      rule: '404: the chain does not know the transaction',
      advice: 'Answer 404, or 501 when you do not offer to look.',
      needs,
      async run(wallet) {
        const answer = await ask(wallet, `${'0'.repeat(63)}1`)
        if (answer.status === 501) throw new Blocked('The wallet service does not offer GET /transactions/{hash}')
        expectStatus(answer, 404)
      },
    },
    {
      id: 'outputs.hash',
      title: 'The hash is 64 hexadecimal digits in lower case',
      section,
      rule: '64 hex digits, lower case',
      advice: 'Answer the id of the transaction as nodes write it, without 0x.',
      needs: spending,
      async run(wallet) {
        const { state, last } = await settled(wallet)
        expectThat(/^[0-9a-f]{64}$/.test(state.txHash ?? ''), 'txHash is not 64 hexadecimal digits', last)
      },
    },
    {
      id: 'outputs.index',
      title: 'index is the output that pays the recipient',
      section: 'get-transfersid',
      rule: 'index beside it is the output that pays the recipient, null when the present transaction pays nobody',
      advice:
        'Answer the number of the output with the recipient and the amount; several transfers may share a transaction.',
      needs: spending,
      async run(wallet) {
        const { state, last } = await settled(wallet)
        const { transaction, answer } = await mined(wallet)
        const { index } = state as { index?: number | null }
        const part = transaction.payments.find((payment) => payment.index === index)
        const isPaid = part?.toAddress === state.toAddress && part.amount === state.amount
        expectThat(isPaid, `the output ${index} does not pay what was ordered`, last, answer)
      },
    },
    {
      id: 'outputs.anchor',
      title: 'anchor is an output that the transaction spends',
      section: 'get-transfersid',
      rule: 'the output that every transaction of the transfer spends, so that one of them can be mined at most',
      advice:
        'Answer the first input of the first transaction, from its signature on, and spend it with each replacement.',
      needs: spending,
      async run(wallet) {
        const { state, last } = await settled(wallet)
        const { transaction, answer } = await mined(wallet)
        const { anchor } = state
        expectThat(anchor != null, 'the state has no anchor', last)
        const isSpent = transaction.spent?.some(
          ({ txHash, index }) => txHash === anchor.txHash && index === anchor.index,
        )
        expectThat(isSpent !== false, 'the transaction does not spend it', last, answer)
      },
    },
    {
      id: 'outputs.spent',
      title: 'spent lists outputs of the sender only, which are worth amount and fee at least',
      section: 'get-transactionshashnetwork',
      rule: 'There spent lists the outputs that the transaction spends',
      advice: 'Spend outputs of the sender only, and look each of them up at the node. from and nonce are null.',
      needs: spending,
      async run(wallet) {
        const { order, state } = await settled(wallet)
        const { transaction, answer } = await mined(wallet)
        const { from, nonce, fee, spent } = transaction
        expectThat(from === null && nonce === null, 'from or nonce is not null', answer)
        expectThat(fee === state.fee, `fee is ${fee}, and that of the transfer is ${state.fee}`, answer)
        if (spent === undefined) throw new Blocked('GET /transactions/{hash} lists no spent outputs')
        const isOfSender = spent.length > 0 && spent.every(({ address }) => address === order.fromAddress)
        expectThat(isOfSender, 'it spends outputs of others, or none', answer)
        const total = spent.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
        const least = spentAmount + BigInt(fee ?? '0')
        expectThat(total >= least, `the outputs are worth ${total}, amount and fee are ${least}`, answer)
      },
    },
    {
      id: 'outputs.change',
      title: 'What returns to the sender is no payment',
      section: 'get-transactionshashnetwork',
      rule: 'What returns to the sender is not among the payments.',
      advice: 'Leave outputs to the owner of all that is spent out of payments.',
      needs: spending,
      async run(wallet) {
        const { order } = await settled(wallet)
        const { transaction, answer } = await mined(wallet)
        const isListed = transaction.payments.some(({ toAddress }) => toAddress === order.fromAddress)
        expectThat(!isListed, 'payments have an output to the sender', answer)
      },
    },
    {
      id: 'outputs.deposit',
      title: 'A deposit has 8 decimals, and the number of its output as its index',
      section: 'the-webhook-deposits',
      rule: 'Bitcoin and Litecoin have 8.',
      advice:
        'Divide the raw amount by 10^8 as text or big integer, and report the output, not the place of the input.',
      needs: ['spend', 'webhooks', 'outputs'],
      async run(wallet) {
        const { amount, index } = await deposited(wallet)
        const { state, last } = await settled(wallet)
        const arrived = fromRaw(spentAmount, 8)
        const isSame = typeof amount === 'string' && compare(amount, arrived) === 0
        expectThat(isSame, `the amount of the deposit is ${amount}, ${arrived} arrived`, last)
        const { index: paying } = state as { index?: number | null }
        expectThat(index === paying, `the index of the deposit is ${index}, the output is ${paying}`, last)
      },
    },
    {
      id: 'outputs.change-deposit',
      title: 'Change is not reported as a deposit',
      section: 'the-webhook-deposits',
      rule: 'Change that returns to the sender is no deposit.',
      advice: 'Leave out outputs of your own transactions that pay their sender: the books never took them off.',
      needs: ['spend', 'webhooks', 'outputs'],
      async run(wallet) {
        await deposited(wallet)
        const { order, state, last } = await settled(wallet)
        await sleep(quietSeconds * 1000)
        const isReported = wallet
          .listener!.deliveriesTo(order.fromAddress)
          .some(({ json }) => (json as { tx?: { txHash?: unknown } } | null)?.tx?.txHash === state.txHash)
        expectThat(!isReported, 'the webhook reported an output of the transfer to its sender', last)
      },
    },
    ...waiting,
  ],
}

const typeOf = ({ options }: WalletUnderTest) => options.type as UtxoType

async function preview(wallet: WalletUnderTest, changes: Partial<TransferOrder>): Promise<Answer> {
  const { network, fromAddress, toAddress, contractAddress, amount } = await wallet.order(changes)
  const body = { network, fromAddress, toAddress, contractAddress, amount }
  return await wallet.call('POST', '/fees', { body })
}

/** @throws Violation unless order and preview are a 400 that names the field */
async function expectRefused(
  wallet: WalletUnderTest,
  changes: Partial<TransferOrder>,
  field: string,
  what: string,
): Promise<Answer[]> {
  const ordered = await wallet.call('POST', '/transfers', { body: await wallet.order(changes) })
  const previewed = await preview(wallet, changes)
  for (const [name, answer] of Object.entries({ order: ordered, preview: previewed })) {
    expectStatus(answer, 400, `${name}, ${what}`)
    const { details } = expectAnswer(answer, 400, FieldFaults)
    expectThat(
      details.some((fault) => fault.field === field),
      `${name}, ${what}: details do not name ${field}`,
      answer,
    )
  }
  return [ordered, previewed]
}

/** The transfer that most checks share, and its last state. */
async function settled(wallet: WalletUnderTest) {
  const { order, answers } = await paid(wallet)
  const last = answers.at(-1)!
  return { order, last, state: last.json as TransferState }
}

const ask = ({ call, options }: WalletUnderTest, hash: string) =>
  call('GET', `/transactions/${hash}?${new URLSearchParams({ network: options.network })}`)

/** The transaction of that transfer. @throws Blocked when the wallet service does not offer to look */
async function mined(wallet: WalletUnderTest): Promise<{ transaction: TransactionState; answer: Answer }> {
  const answer = await ask(wallet, (await settled(wallet)).state.txHash ?? '')
  if ([404, 405, 501].includes(answer.status))
    throw new Blocked('The wallet service does not offer GET /transactions/{hash}')
  return { transaction: expectAnswer(answer, 200, TransactionState), answer }
}

/** The deposit that the transfer is for its recipient. */
async function deposited(wallet: WalletUnderTest): Promise<{ amount?: unknown; index?: unknown }> {
  const { order, last } = await settled(wallet)
  const deliveries = () => wallet.listener!.deliveriesTo(order.toAddress)
  const isReported = await within(wallet.options.waitSeconds, () => deliveries().length > 0)
  expectThat(isReported, `the deposit was not reported within ${wallet.options.waitSeconds} seconds`, last)
  return ((deliveries()[0]!.json ?? {}) as { tx?: { amount?: unknown; index?: unknown } }).tx ?? {}
}
