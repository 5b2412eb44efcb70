import { expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import { spentAmount } from '../limits.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'rules-for-every-request' as const
const rule = 'Authorization: Bearer <secret>. One secret per vault'
const sees = 'A client sees only its own addresses and transfers.'

export const authentication: Category = {
  name: 'auth',
  title: 'Authentication',
  checks: [
    {
      id: 'auth.missing-token',
      title: 'Every operation but /healthz answers 401 without a token',
      section,
      rule,
      advice: 'Check the token in one place in front of all routes.',
      async run(wallet) {
        for (const [method, path, body] of await everyOperation(wallet)) {
          expectStatus(await wallet.call(method, path, { body, client: null }), 401, `${method} ${path}`)
        }
      },
    },
    {
      id: 'auth.wrong-token',
      title: 'A token that is longer, shorter or different by one character is a 401',
      section,
      rule,
      advice: 'Compare the whole token, preferably by its hash.',
      async run({ call, options: { secret }, pathOf, options }) {
        const last = secret.at(-1) === 'A' ? 'B' : 'A'
        const body = { network: options.network, coinType: options.coinType, derivationPath: pathOf('wrong token') }
        for (const wrong of [`${secret}A`, secret.slice(0, -1), secret.slice(0, -1) + last, '']) {
          const answer = await call('POST', '/addresses', { body, authorization: `Bearer ${wrong}` })
          expectStatus(answer, 401, `a token of ${wrong.length} instead of ${secret.length} characters`)
        }
      },
    },
    {
      id: 'auth.other-scheme',
      title: 'The token is accepted only in the Authorization header, with the scheme Bearer',
      section,
      rule,
      advice: 'Accept no token in the query, in a Basic header or without a scheme.',
      async run({ call, options: { secret }, options, pathOf }) {
        const body = { network: options.network, coinType: options.coinType, derivationPath: pathOf('other scheme') }
        const basic = `Basic ${Buffer.from(`${secret}:${secret}`).toString('base64')}`
        expectStatus(await call('POST', '/addresses', { body, authorization: basic }), 401, 'Basic')
        expectStatus(await call('POST', '/addresses', { body, authorization: `Token ${secret}` }), 401, 'Token')
        const path = `/addresses?access_token=${encodeURIComponent(secret)}`
        expectStatus(await call('POST', path, { body, client: null }), 401, 'a token in the query')
      },
    },
    {
      id: 'auth.before-body',
      title: 'The token is checked before the body, so that a stranger learns nothing of the form',
      section: 'errors',
      rule: 'no valid secret',
      advice: 'Answer 401 before the body is validated.',
      async run({ call }) {
        expectStatus(
          await call('POST', '/addresses', { body: { unexpected: true }, client: null }),
          401,
          'POST /addresses',
        )
        expectStatus(await call('POST', '/transfers', { raw: '{"id":', client: null }), 401, 'POST /transfers')
      },
    },
    {
      id: 'auth.keys-of-clients',
      title: 'Two clients get different addresses for the same path',
      section,
      rule: 'Two clients never share a key, even for the same path.',
      advice: 'Give every client a seed of its own, or make the client a part of the path.',
      needs: ['otherClient'],
      async run({ addressOf }) {
        const [mine, other] = [await addressOf('shared path'), await addressOf('shared path', 'other')]
        const differs = mine.address.toLowerCase() !== other.address.toLowerCase()
        expectThat(differs, `both clients have the address ${mine.address} at ${mine.derivationPath}`)
      },
    },
    {
      id: 'auth.transfers-of-clients',
      title: 'The transfer of another client is a 404',
      section,
      rule: sees,
      advice: 'Look transfers up by client and id.',
      needs: ['otherClient'],
      async run({ call, order }) {
        const body = await order()
        await call('POST', '/transfers', { body })
        expectStatus(await call('GET', `/transfers/${body.id}`, { client: 'other' }), 404)
      },
    },
    {
      id: 'auth.balances-of-clients',
      title: 'Balance and fee of the address of another client are a 404',
      section: 'errors',
      rule: "the transfer was never accepted, or the address is not the client's",
      advice: 'Look addresses up by client.',
      needs: ['otherClient'],
      async run({ call, addressOf, options: { network } }) {
        const [{ address }, foreign] = [await addressOf('recipient'), await addressOf('foreign', 'other')]
        const query = new URLSearchParams({ network, address: foreign.address })
        const amount = spentAmount.toString()
        expectStatus(await call('GET', `/balances?${query}`), 404, 'GET /balances')
        const body = { network, fromAddress: foreign.address, toAddress: address, contractAddress: null, amount }
        expectStatus(await call('POST', '/fees', { body }), 404, 'POST /fees')
      },
    },
    {
      id: 'auth.senders-of-clients',
      title: 'Nobody can order a transfer from the address of another client',
      section: 'post-transfers',
      rule: 'refuse (400) when fromAddress is not the address of the path;',
      advice: 'Derive the address of the path with the keys of the client, and compare it with fromAddress.',
      needs: ['otherClient'],
      async run({ call, order, addressOf }) {
        const foreign = await addressOf('foreign', 'other')
        const body = await order({ derivationPath: foreign.derivationPath, fromAddress: foreign.address })
        expectStatus(await call('POST', '/transfers', { body }), 400)
      },
    },
    {
      id: 'auth.ids-of-clients',
      title: 'Two clients can use the same transfer id',
      section: 'post-transfers',
      rule: 'Idempotent by (client, id)',
      advice: 'Make client and id the key of a transfer together.',
      needs: ['otherClient'],
      async run({ call, order, addressOf }) {
        const body = await order()
        expectStatus(await call('POST', '/transfers', { body }), 202, 'the first client')
        const sender = await addressOf('sender', 'other')
        const other = { ...body, derivationPath: sender.derivationPath, fromAddress: sender.address }
        expectStatus(await call('POST', '/transfers', { body: other, client: 'other' }), 202, 'the second client')
      },
    },
  ],
}

async function everyOperation({ addressOf, order, options }: WalletUnderTest): Promise<[string, string, unknown?][]> {
  const { network, coinType } = options
  const { address, derivationPath } = await addressOf('sender')
  const transfer = await order()
  const fees = { network, fromAddress: address, toAddress: address, contractAddress: null, amount: '1' }
  return [
    ['POST', '/addresses', { network, coinType, derivationPath }],
    ['POST', '/transfers', transfer],
    ['GET', `/transfers/${transfer.id}`],
    ['GET', `/balances?${new URLSearchParams({ network, address })}`],
    ['POST', '/fees', fees],
  ]
}
