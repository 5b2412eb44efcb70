import { Balance, expectAnswer, expectStatus, expectThat, textOf } from '../answers.ts'
import type { Category } from '../check.ts'
import { breakChecksum } from '../evm-address.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'get-balancesnetworkaddresscontract' as const

export const balances: Category = {
  name: 'balances',
  title: 'Balances',
  checks: [
    {
      id: 'balances.form',
      title: 'GET /balances answers the balance as digits, and the block',
      section,
      rule: '→ { "balance": "1000", "blockNumber": 123 }: the balance on the chain, in raw units.',
      advice: 'Read the balance from the chain, and write it as a string of digits.',
      async run(wallet) {
        expectAnswer(await read(wallet, {}), 200, Balance)
      },
    },
    {
      id: 'balances.empty-contract',
      title: 'An empty contract means the coin',
      section,
      rule: 'contract empty or absent means the coin.',
      advice: 'Treat contract= like no contract.',
      async run(wallet) {
        const answer = await read(wallet, { contract: '' })
        expectStatus(answer, 200)
        const absent = await read(wallet, {})
        expectThat(textOf(answer, 'balance') === textOf(absent, 'balance'), 'the balances differ', answer, absent)
      },
    },
    {
      id: 'balances.token',
      title: 'The balance of a token is answered',
      section,
      rule: 'the balance on the chain, in raw units',
      advice: 'Call balanceOf of the contract.',
      needs: ['token'],
      async run(wallet) {
        expectAnswer(await read(wallet, { contract: wallet.options.token!.contract }), 200, Balance)
      },
    },
    {
      id: 'balances.foreign',
      title: 'The balance of an address that is not the client’s is a 404',
      section,
      rule: 'Own addresses only.',
      advice: 'Answer for addresses that this client has derived.',
      needs: ['evm'],
      async run(wallet) {
        expectStatus(await read(wallet, { address: '0x000000000000000000000000000000000000dEaD' }), 404)
      },
    },
    {
      id: 'balances.lower-case',
      title: 'An address in lower case is accepted',
      section: 'rules-for-every-request',
      rule: 'lower case is accepted',
      advice: 'Compare addresses regardless of case, after you have verified the checksum of an address in mixed case.',
      needs: ['evm'],
      async run(wallet) {
        const { address } = await wallet.addressOf('sender')
        expectStatus(await read(wallet, { address: address.toLowerCase() }), 200)
      },
    },
    {
      id: 'balances.checksum',
      title: 'An address with a wrong checksum is a 400',
      section: 'rules-for-every-request',
      rule: 'A wrong checksum is a 400',
      advice: 'Verify the EIP-55 checksum of addresses in mixed case.',
      needs: ['evm'],
      async run(wallet) {
        const { address } = await wallet.addressOf('sender')
        expectStatus(await read(wallet, { address: breakChecksum(address) }), 400)
      },
    },
    {
      id: 'balances.parameters',
      title: 'An unknown network, an unknown or a missing parameter is a 400',
      section: 'rules-for-every-request',
      rule: '400. Nothing is coerced.',
      advice: 'Validate the query as strictly as a body.',
      async run(wallet) {
        expectStatus(await read(wallet, { network: 'no-such-network' }), 400, 'an unknown network')
        expectStatus(await read(wallet, { contrakt: '' }), 400, 'an unknown parameter')
        expectStatus(await wallet.call('GET', `/balances?network=${wallet.options.network}`), 400, 'no address')
        const { address } = await wallet.addressOf('sender')
        expectStatus(await wallet.call('GET', `/balances?address=${address}`), 400, 'no network')
      },
    },
  ],
}

async function read({ call, addressOf, options }: WalletUnderTest, changes: Record<string, string>) {
  const { address } = await addressOf('sender')
  return call('GET', `/balances?${new URLSearchParams({ network: options.network, address, ...changes })}`)
}
