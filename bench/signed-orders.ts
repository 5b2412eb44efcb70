import { type Ordered, refusalOfOrder } from '../wallet/src/authority/decide.ts'
import type { Authority } from '../wallet/src/authority/documents.ts'
import { authority, authorize, order, passkey } from '../wallet/src/testing/signing.ts'
import { noteCpu } from './lib/cpu.ts'
import { runBench } from './lib/run-bench.ts'

/**
 * Measures the CPU time of the wallet service for one order with five votes of passkeys (ES256), from parsing to the
 * decision.
 */
const rounds = 400

const keys = ['anna', 'ben', 'carla', 'dora', 'emil'].map((person) => passkey(person, person))
const persons = keys.map(({ entry }) => entry.person)
const rule = authority.rules[0]!
const held: Authority = {
  ...authority,
  keys: keys.map(({ entry }) => entry),
  groups: [{ id: 'people', persons }],
  change: { group: 'people', votes: 3 },
  rules: [
    { ...rule, initiators: 'people', perDay: null, floors: [{ above: '0', to: 'any', group: 'people', votes: 4 }] },
  ],
}
const { transferId: id, network, coinType, derivationPath, fromAddress, toAddress, contractAddress } = order
const place = { id, network, coinType, derivationPath, fromAddress, toAddress, contractAddress }
const ordered: Ordered = { ...place, amount: BigInt(order.amount), feeLevel: null, maxFee: null }
const [initiator, ...approvers] = keys
const json = JSON.stringify(authorize(order, { by: initiator!, approvers }))
const now = new Date('2026-01-31T09:00:00.000Z')

await runBench(async (record) => {
  const mean = noteCpu(record, `an order with ${keys.length} votes`, {
    rounds,
    prepare: () => json,
    work(text) {
      const authorization: unknown = JSON.parse(text)
      const refused = refusalOfOrder({ ordered, authorization, authority: held, orderedLastDay: 0n, now })
      if (refused !== null) throw new Error(`${refused.code}: ${refused.sentence}`)
    },
  })
  record.expect('signedOrder', mean)
})
