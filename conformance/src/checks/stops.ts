import { generateKeyPairSync } from 'node:crypto'
import Type from 'typebox'
import { expectAnswer, expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import {
  expectCode,
  expectRefusal,
  handOver,
  hashOf,
  newSignedOrder,
  type SignedOrder,
  shownAuthority,
  voteOf,
} from '../signed-orders.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'signed-orders' as const
const stopped = 'What is stopped is a 403 with `STOPPED` from then on.'
const Stopped = Type.Object({ stopped: Type.Array(Type.String()) })
const needs: Category['checks'][number]['needs'] = ['evm', 'protected', 'authorityKeys']

const stop = (wallet: WalletUnderTest, votes: unknown) =>
  wallet.call('POST', '/stops', { body: { votes }, client: 'protected' })

/** Signed votes with which one person stops an order. Optional. The sender has no funds, so that nothing can move. */
export const stops: Category = {
  name: 'stops',
  title: 'Signed stops (optional; nothing is moved)',
  checks: [
    {
      id: 'stops.order',
      title: 'A signed veto is a 200, also when repeated; the fully signed order is then a 403 STOPPED',
      section,
      rule: stopped,
      advice:
        'Keep the hashes of stopped orders beside the authority, and look up the hash of an order before you store it.',
      needs,
      async run(wallet) {
        const { body, order, shown, approvers, authorization } = await newSignedOrder(wallet)
        const hash = hashOf(order)
        const veto = voteOf(approvers[0]!, { hash, authority: shown.hash, decision: 'reject' })
        for (const time of ['the first time', 'the second time']) {
          const answer = await stop(wallet, [veto])
          const { stopped: hashes } = expectAnswer(answer, 200, Stopped)
          expectThat(hashes.join() === hash, `${time}: stopped is not the hash of the order`, answer)
        }
        await expectRefusal(wallet, body, await handOver(wallet, body, authorization), 'STOPPED', 'after a veto')
      },
    },
    {
      id: 'stops.payout',
      title: 'A signed cancellation of a payout makes each of its rows a 403 STOPPED',
      section,
      rule: stopped,
      advice: 'When an order has a batch, look up the hash of its payout, too.',
      needs,
      async run(wallet) {
        const { body, order, shown, initiator, approvers } = await newSignedOrder(wallet)
        const payout = payoutOf(order)
        const about = { subject: 'payout', hash: hashOf(payout), authority: shown.hash } as const
        const votes = [
          voteOf(initiator, { ...about, decision: 'initiate' }),
          ...approvers.map((key) => voteOf(key, { ...about, decision: 'approve' })),
        ]
        expectStatus(await stop(wallet, [voteOf(initiator, { ...about, decision: 'cancel' })]), 200)
        const batch = { payout, position: 0, path: [] }
        const answer = await handOver(wallet, body, { order, authorityVersion: shown.version, votes, batch })
        await expectRefusal(wallet, body, answer, 'STOPPED', 'a row of the payout')
      },
    },
    {
      id: 'stops.refused',
      title: 'A list with a vote that does not count is a 403 with its code, and stops nothing',
      section,
      rule: 'A list with a vote that does not count is a 403 with a code, and stops nothing.',
      advice:
        'Verify the person, the key and the decision (reject or cancel) of every vote of the list before you store any.',
      needs,
      async run(wallet) {
        const { body, order, approvers, authorization } = await newSignedOrder(wallet)
        const { shown } = await shownAuthority(wallet)
        const about = { hash: hashOf(order), authority: shown.hash, decision: 'reject' } as const
        const [known] = approvers as [(typeof approvers)[number]]
        const forger = { ...known, privateKey: generateKeyPairSync('ed25519').privateKey }
        const cases = [
          ['ORDER_DIFFERS', voteOf(known, { ...about, decision: 'approve' }), 'an approval'],
          ['KEY_UNKNOWN', voteOf({ ...forger, id: 'conformance-unknown' }, about), 'an unknown key'],
          ['SIGNATURE_INVALID', voteOf(forger, about), 'a forged signature'],
        ] as const
        for (const [code, vote, what] of cases)
          expectCode(await stop(wallet, [voteOf(known, about), vote]), 403, code, `a veto and ${what}`)
        expectStatus(await handOver(wallet, body, authorization), 202, 'the order that nobody stopped')
      },
    },
  ],
}

/** A payout with one row, as people sign it. */
function payoutOf(order: SignedOrder) {
  const { vaultId, initiatorId, rulesVersion, expiresAt, network, contractAddress, amount, transferId } = order
  const leaf = { format: 'strongroom-payout-leaf-1', position: 0, order: hashOf(order), amount }
  const sum = { network, contractAddress, amount, rowsCount: 1, root: hashOf(leaf) }
  const head = { payoutId: `${transferId}-payout`, vaultId, initiatorId, rulesVersion, expiresAt }
  return { format: 'strongroom-payout-1', ...head, sums: [sum] }
}
