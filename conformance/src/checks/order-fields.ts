import { expectStatus } from '../answers.ts'
import type { Category } from '../check.ts'
import { breakChecksum } from '../evm-address.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'
import { wrongAmounts } from '../wrong-amounts.ts'

const section = 'rules-for-every-request' as const
const ids = 'The id is Strongroom’s transfer id: 1 to 128 of A-Z a-z 0-9 . _ : -.'
const amounts = 'the smallest unit of the token as a string of digits, 0 to 2^256-1. Never a JSON number.'

/** The valid values of the fields of an order. */
export const orderFields: Category = {
  name: 'order-fields',
  title: 'Fields of an order (nothing is moved)',
  checks: [
    {
      id: 'order-fields.ids',
      title: 'Ids of up to 128 letters, digits, dots, underscores, colons and dashes are accepted',
      section: 'post-transfers',
      rule: ids,
      advice: 'Store ids of 128 characters, and treat them as opaque.',
      async run(wallet) {
        const unique = wallet.nextId()
        for (const id of [`${unique}.A_z:9-`, `${unique}:`.padEnd(128, 'x')]) {
          expectStatus(await order(wallet, { id }), 202, JSON.stringify(id))
          expectStatus(await wallet.call('GET', `/transfers/${id}`), 200, JSON.stringify(id))
        }
      },
    },
    {
      id: 'order-fields.wrong-ids',
      title: 'Other ids are a 400',
      section: 'post-transfers',
      rule: ids,
      advice: 'Match the whole id with ^[A-Za-z0-9._:-]{1,128}$.',
      async run(wallet) {
        const unique = wallet.nextId()
        for (const id of ['', `${unique}/x`, `${unique} x`, `${unique}\n`, `${unique}é`, unique.padEnd(129, 'x'), 7]) {
          expectStatus(await order(wallet, { id: id as string }), 400, JSON.stringify(id))
        }
      },
    },
    {
      id: 'order-fields.amounts',
      title: 'An amount that is not a string of digits up to 2^256-1 is a 400',
      section,
      rule: amounts,
      advice: 'Accept digits without sign, point, exponent or leading zeros, and compare with 2^256-1.',
      async run(wallet) {
        for (const [what, amount] of wrongAmounts) {
          expectStatus(await order(wallet, { amount: amount as string }), 400, what)
        }
      },
    },
    {
      id: 'order-fields.zero',
      title: 'An order of zero is a 400',
      section: 'post-transfers',
      rule: 'refuse (400) an amount of zero;',
      advice: 'Refuse orders that move nothing.',
      async run(wallet) {
        expectStatus(await order(wallet, { amount: '0' }), 400)
      },
    },
    {
      id: 'order-fields.largest-amount',
      title: 'An order of 2^256-1 is accepted',
      section,
      rule: amounts,
      advice: 'Keep amounts as big integers or as text, never as floating-point numbers or 64-bit integers.',
      async run(wallet) {
        expectStatus(await order(wallet, { amount: (2n ** 256n - 1n).toString() }), 202)
      },
    },
    {
      id: 'order-fields.checksum',
      title: 'An address with a wrong checksum is a 400',
      section,
      rule: 'A wrong checksum is a 400',
      advice: 'Verify the EIP-55 checksum of recipient, sender and contract: it is what detects a typing error.',
      needs: ['evm'],
      async run(wallet) {
        const { toAddress, fromAddress } = await wallet.order()
        for (const changes of [
          { toAddress: breakChecksum(toAddress) },
          { fromAddress: breakChecksum(fromAddress) },
          { contractAddress: breakChecksum(toAddress) },
        ]) {
          expectStatus(await order(wallet, changes), 400, Object.keys(changes)[0])
        }
      },
    },
    {
      id: 'order-fields.lower-case',
      title: 'Addresses in lower case are accepted',
      section,
      rule: 'lower case is accepted',
      advice: 'Compare addresses without regard to case, after the checksum of a mixed one was verified.',
      needs: ['evm'],
      async run(wallet) {
        const { toAddress, fromAddress } = await wallet.order()
        const changes = { toAddress: toAddress.toLowerCase(), fromAddress: fromAddress.toLowerCase() }
        expectStatus(await order(wallet, changes), 202)
      },
    },
    {
      id: 'order-fields.recipient',
      title: 'A recipient that is not an address of the network is a 400',
      section: 'errors',
      rule: 'the request is malformed',
      advice: 'Validate recipients as the network does.',
      needs: ['evm'],
      async run(wallet) {
        const { toAddress } = await wallet.order()
        const wrong = ['', 'dead', toAddress.slice(0, -1), `${toAddress}0`, toAddress.slice(2), 'vitalik.eth', null]
        for (const value of wrong) {
          expectStatus(await order(wallet, { toAddress: value as string }), 400, JSON.stringify(value))
        }
      },
    },
    {
      id: 'order-fields.network',
      title: 'An unknown network is a 400',
      section: 'errors',
      rule: 'names an unknown network',
      advice: 'Look the network up in the list of those that are configured.',
      async run(wallet) {
        for (const network of ['no-such-network', '__proto__']) {
          expectStatus(await order(wallet, { network }), 400, network)
        }
      },
    },
    {
      id: 'order-fields.unknown',
      title: 'An unknown field is a 400',
      section,
      rule: '400. Nothing is coerced.',
      advice: 'Refuse fields that the protocol does not name.',
      async run(wallet) {
        expectStatus(await order(wallet, { memo: 'unexpected' }), 400)
      },
    },
    {
      id: 'order-fields.required',
      title: 'A missing field is a 400',
      section: 'errors',
      rule: 'the request is malformed',
      advice: 'Require all eight fields; contractAddress is null for the coin, not absent.',
      async run(wallet) {
        for (const field of Object.keys(await wallet.order())) {
          expectStatus(await order(wallet, { [field]: undefined }), 400, `without ${field}`)
        }
      },
    },
  ],
}

async function order({ order, call }: WalletUnderTest, changes: object) {
  return call('POST', '/transfers', { body: { ...(await order()), ...changes } })
}
