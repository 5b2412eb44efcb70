import { DerivedAddress, expectAnswer, expectStatus, expectThat, textOf } from '../answers.ts'
import type { Category } from '../check.ts'
import { isChecksummed } from '../evm-address.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'post-addresses' as const
const sameAddress =
  'Idempotent by path: the same client, network and path always get the same address, also after a restart or a restore.'
const pathForm =
  'The path is m/44/<coinType>/<n>/<n>… with numbers from 0 to 2^31-1, without leading zeros and without hardening marks'
const strict = 'Nothing is coerced.'

export const addresses: Category = {
  name: 'addresses',
  title: 'Addresses',
  checks: [
    {
      id: 'addresses.derive',
      title: 'POST /addresses answers 200 with an address',
      section,
      rule: '→ 200 { "address": "0x…" }.',
      advice: 'Answer 200 with a JSON object that has the member address, also when the address was derived before.',
      async run(wallet) {
        expectAnswer(await derive(wallet, wallet.pathOf('plain')), 200, DerivedAddress)
      },
    },
    {
      id: 'addresses.checksum',
      title: 'Addresses are in EIP-55 form',
      section: 'rules-for-every-request',
      rule: 'EIP-55 form on EVM networks',
      advice: 'Write addresses in mixed case, as EIP-55 says.',
      needs: ['evm'],
      async run(wallet) {
        for (const name of ['sender', 'recipient', 'checksum']) {
          const answer = await derive(wallet, wallet.pathOf(name))
          const address = textOf(answer, 'address') ?? ''
          expectThat(isChecksummed(address), `${address} is not in EIP-55 form`, answer)
        }
      },
    },
    {
      id: 'addresses.same-path',
      title: 'The same path gives the same address',
      section,
      rule: sameAddress,
      advice: 'Derive the address from the path alone, or store it under client, network and path.',
      async run(wallet) {
        const path = wallet.pathOf('same path')
        const first = await derive(wallet, path)
        const second = await derive(wallet, path)
        expectThat(textOf(first, 'address') === textOf(second, 'address'), 'two answers differ', first, second)
      },
    },
    {
      id: 'addresses.concurrent',
      title: 'Ten simultaneous requests for a new path get the same address',
      section,
      rule: sameAddress,
      advice: 'Let the database decide who stores a new path first, and read the address after that.',
      async run(wallet) {
        const path = wallet.pathOf('simultaneous')
        const answers = await Promise.all(Array.from({ length: 10 }, () => derive(wallet, path)))
        for (const answer of answers) expectStatus(answer, 200)
        const differing = answers.find((answer) => textOf(answer, 'address') !== textOf(answers[0]!, 'address'))
        expectThat(differing === undefined, 'two of them differ', answers[0]!, differing ?? answers[0]!)
      },
    },
    {
      id: 'addresses.other-path',
      title: 'Different paths give different addresses',
      section,
      rule: 'Idempotent by path',
      advice: 'Use every number of the path.',
      async run(wallet) {
        const { coinType, account } = wallet.options
        const base = `m/44/${coinType}/${account}`
        const seen = new Map<string, string>()
        for (const path of [`${base}/1`, `${base}/1/0`, `${base}/0/1`, `${base}/1/1`, `${base}/11`]) {
          const answer = await derive(wallet, path)
          const address = textOf(answer, 'address') ?? ''
          expectThat(!seen.has(address), `${path} and ${seen.get(address)} have the same address`, answer)
          seen.set(address, path)
        }
      },
    },
    {
      id: 'addresses.path-range',
      title: 'Paths of one to five levels and numbers of 0 to 2^31-1 are accepted',
      section,
      rule: pathForm,
      advice: 'Accept every path that the protocol allows; the routes of a vault may have that many levels.',
      async run(wallet) {
        const { coinType, account } = wallet.options
        for (const rest of ['', '/0', '/2147483647', '/0/0/0', '/1/2/3/4']) {
          const path = `m/44/${coinType}/${account}${rest}`
          expectStatus(await derive(wallet, path), 200, path)
        }
      },
    },
    {
      id: 'addresses.path-form',
      title: 'A path with hardening marks, leading zeros or numbers from 2^31 is a 400',
      section,
      rule: pathForm,
      advice: 'Accept one spelling of a path only: two spellings of one key would be two addresses in the books.',
      async run(wallet) {
        const { coinType, account } = wallet.options
        const base = `m/44/${coinType}/${account}`
        const wrong = [
          `m/44'/${coinType}'/${account}'/0`,
          `${base}h/0`,
          `${base}/01`,
          `${base}/2147483648`,
          `${base}/-1`,
          `${base}/`,
          `${base}//0`,
          `${base}/0/`,
          `${base}/x`,
          `m/49/${coinType}/${account}/0`,
          `44/${coinType}/${account}/0`,
          '',
        ]
        for (const path of wrong) expectStatus(await derive(wallet, path), 400, JSON.stringify(path))
      },
    },
    {
      id: 'addresses.coin-type',
      title: 'A path with another coin type than coinType is a 400',
      section,
      rule: 'its coin type must equal coinType',
      advice: 'Compare the second number of the path with coinType.',
      async run(wallet) {
        const path = wallet.pathOf('coin type').replace(/^m\/44\/\d+/, `m/44/${wallet.options.coinType + 1}`)
        expectStatus(await derive(wallet, path), 400)
      },
    },
    {
      id: 'addresses.network',
      title: 'An unknown network is a 400',
      section: 'errors',
      rule: 'the request is malformed, names an unknown network',
      advice: 'Look the network up in the list of configured networks; a name such as constructor is not a network.',
      async run(wallet) {
        for (const network of ['no-such-network', '__proto__', 'constructor', '']) {
          expectStatus(await derive(wallet, wallet.pathOf('plain'), { network }), 400, JSON.stringify(network))
        }
      },
    },
    {
      id: 'addresses.unknown-field',
      title: 'An unknown field is a 400',
      section: 'rules-for-every-request',
      rule: strict,
      advice: 'Refuse fields that the protocol does not name: a misspelt field must not be taken for an absent one.',
      async run(wallet) {
        expectStatus(await derive(wallet, wallet.pathOf('plain'), { label: 'unexpected' }), 400)
      },
    },
    {
      id: 'addresses.types',
      title: 'A field of another type is a 400',
      section: 'rules-for-every-request',
      rule: strict,
      advice: 'Check the type of every field, and do not convert values.',
      async run(wallet) {
        const { coinType, network } = wallet.options
        const wrong = [
          { coinType: String(coinType) },
          { coinType: coinType + 0.5 },
          { coinType: -1 },
          { coinType: null },
          { network: [network] },
          { derivationPath: null },
          { derivationPath: [wallet.pathOf('plain')] },
        ]
        for (const changes of wrong) {
          expectStatus(await derive(wallet, wallet.pathOf('plain'), changes), 400, JSON.stringify(changes))
        }
      },
    },
    {
      id: 'addresses.required',
      title: 'A missing field is a 400',
      section: 'errors',
      rule: 'the request is malformed',
      advice: 'Require network, coinType and derivationPath.',
      async run(wallet) {
        for (const field of ['network', 'coinType', 'derivationPath']) {
          const answer = await derive(wallet, wallet.pathOf('plain'), { [field]: undefined })
          expectStatus(answer, 400, `without ${field}`)
        }
      },
    },
  ],
}

function derive({ call, options }: WalletUnderTest, derivationPath: string, changes: object = {}) {
  const { network, coinType } = options
  return call('POST', '/addresses', { body: { network, coinType, derivationPath, ...changes } })
}
