import { type Ordered, refusalOfOrder } from '../wallet/src/authority/decide.ts'
import type { Authority } from '../wallet/src/authority/documents.ts'
import { authority, authorize, order, passkey } from '../wallet/src/testing/signing.ts'

/** CPU time of the wallet service for one order with five votes of passkeys (ES256), from parsing to the decision. */
const rounds = 400
const budgetMilliseconds = 3

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

const measured: number[] = []
for (let round = 0; round < rounds; round += 1) {
  const before = process.cpuUsage()
  const authorization: unknown = JSON.parse(json)
  const refused = refusalOfOrder({ ordered, authorization, authority: held, orderedLastDay: 0n, now })
  const { user, system } = process.cpuUsage(before)
  if (refused !== null) throw new Error(`${refused.code}: ${refused.sentence}`)
  measured.push((user + system) / 1_000)
}
// The first rounds measure a service that has just started.
const warm = measured.slice(rounds / 4).sort((a, b) => a - b)
const mean = warm.reduce((sum, one) => sum + one, 0) / warm.length
const at = (share: number) => warm[Math.floor(warm.length * share)]!.toFixed(2)
console.log(
  `an order with ${keys.length} votes: mean ${mean.toFixed(2)} ms, median ${at(0.5)} ms, p99 ${at(0.99)} ms of CPU; ` +
    `first round ${measured[0]!.toFixed(2)} ms`,
)
if (mean > budgetMilliseconds) {
  console.error(`That is more than ${budgetMilliseconds} ms.`)
  process.exitCode = 1
}
