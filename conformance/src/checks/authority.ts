import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import { expectRefusal, handOver, hashOf, newOrder, shownAuthority, signersOf, votesOn } from '../signed-orders.ts'

const section = 'signed-orders' as const
const exactly = 'An order that people have not signed exactly so is a 403 and nothing is stored.'
const inOrder = 'details begins with the code of the first reason that applies'
const advice =
  'Verify what was signed against the authority before the order is stored, and answer the code of the table.'

/** The orders that a wallet service with an authority refuses. Optional; the sender has no funds, so no funds can move. */
export const authority: Category = {
  name: 'authority',
  title: 'Signed orders (optional; nothing is moved)',
  checks: [
    {
      id: 'authority.shown',
      title: 'GET /authority answers the version in force with its hash',
      section,
      rule: 'GET /authority shows the version in force with its hash, the SHA-256 of its canonical form.',
      advice: 'Compute the hash from the document that is in force, after RFC 8785.',
      needs: ['protected'],
      async run(wallet) {
        const { shown, answer } = await shownAuthority(wallet)
        const whole = (answer.json as { authority: unknown }).authority
        expectThat(shown.hash === hashOf(whole), `the hash is ${shown.hash}, not ${hashOf(whole)}`, answer)
        expectThat(shown.version === shown.authority.version, 'version is not that of the authority', answer)
      },
    },
    {
      id: 'authority.unsigned',
      title: 'An order without authorization, or with one that cannot be read, is a 403',
      section,
      rule: exactly,
      advice,
      needs: ['evm', 'protected'],
      async run(wallet) {
        const { body, order, shown } = await newOrder(wallet)
        const cases = [
          ['AUTHORIZATION_MISSING', undefined, 'without authorization'],
          ['AUTHORIZATION_MALFORMED', { order, votes: [] }, 'without authorityVersion'],
          [
            'AUTHORIZATION_MALFORMED',
            { order: { ...order, extra: 1 }, authorityVersion: shown.version, votes: [] },
            'a field',
          ],
        ] as const
        for (const [code, authorization, what] of cases) {
          await expectRefusal(wallet, body, await handOver(wallet, body, authorization), code, what)
        }
      },
    },
    {
      id: 'authority.other-order',
      title: 'An order that is not the signed one, of another network or vault too, is a 403 ORDER_DIFFERS',
      section,
      rule: exactly,
      advice: 'Compare every field of the request with the signed order, and the vault with that of the authority.',
      needs: ['evm', 'protected'],
      async run(wallet) {
        const { address } = await wallet.addressOf('another recipient', 'protected')
        const { body, order, shown } = await newOrder(wallet)
        const changes = [
          { amount: '2' },
          { toAddress: address },
          { network: 'another-network' },
          { vaultId: 'another-vault' },
          { transferId: 'another-transfer' },
        ]
        for (const change of changes) {
          const authorization = { order: { ...order, ...change }, authorityVersion: shown.version, votes: [] }
          const what = `another ${Object.keys(change)[0]}`
          await expectRefusal(wallet, body, await handOver(wallet, body, authorization), 'ORDER_DIFFERS', what)
        }
      },
    },
    {
      id: 'authority.expired',
      title: 'An order that has expired is a 403 ORDER_EXPIRED',
      section,
      rule: inOrder,
      advice: 'Compare expiresAt with the clock of the wallet service.',
      needs: ['evm', 'protected'],
      async run(wallet) {
        const { body, order, shown } = await newOrder(wallet, { expiresAt: '2020-01-01T00:00:00.000Z' })
        const authorization = { order, authorityVersion: shown.version, votes: [] }
        await expectRefusal(wallet, body, await handOver(wallet, body, authorization), 'ORDER_EXPIRED', 'expired')
      },
    },
    {
      id: 'authority.version',
      title: 'Votes that were collected for another version are a 403 AUTHORITY_VERSION_DIFFERS',
      section,
      rule: inOrder,
      advice: 'Take orders for the version in force only.',
      needs: ['evm', 'protected'],
      async run(wallet) {
        const { body, order, shown } = await newOrder(wallet)
        const authorization = { order, authorityVersion: shown.version + 1, votes: [] }
        const answer = await handOver(wallet, body, authorization)
        await expectRefusal(wallet, body, answer, 'AUTHORITY_VERSION_DIFFERS', 'the next version')
      },
    },
    {
      id: 'authority.forged',
      title: 'A vote by a key that the authority does not name, or that the key did not make, is a 403',
      section,
      rule: inOrder,
      advice: 'Every vote must verify: a list with a wrong one was not collected honestly.',
      needs: ['evm', 'protected'],
      async run(wallet) {
        const { body, order, shown } = await newOrder(wallet)
        const { privateKey } = generateKeyPairSync('ed25519')
        const [known] = shown.authority.keys
        const forger = { privateKey, person: known!.person }
        const unknown = votesOn(order, shown, { ...forger, id: 'conformance-unknown' }, [])
        const forged = votesOn(order, shown, { ...forger, id: known!.id }, [])
        const send = (votes: unknown) => handOver(wallet, body, { order, authorityVersion: shown.version, votes })
        await expectRefusal(wallet, body, await send(unknown), 'KEY_UNKNOWN', 'an unknown key')
        await expectRefusal(wallet, body, await send(forged), 'SIGNATURE_INVALID', 'a forged signature')
      },
    },
    {
      id: 'authority.not-initiated',
      title: 'An order that its initiator did not sign is a 403 NOT_INITIATED',
      section,
      rule: inOrder,
      advice: 'The vote `initiate` of the initiator is always needed.',
      needs: ['evm', 'protected', 'authorityKeys'],
      async run(wallet) {
        const { shown } = await shownAuthority(wallet)
        const { initiator, approvers, amount } = signersOf(wallet, shown)
        const { body, order } = await newOrder(wallet, { amount, initiatorId: initiator.person })
        const authorization = { order, authorityVersion: shown.version, votes: votesOn(order, shown, null, approvers) }
        await expectRefusal(
          wallet,
          body,
          await handOver(wallet, body, authorization),
          'NOT_INITIATED',
          'approvals only',
        )
      },
    },
    {
      id: 'authority.votes-missing',
      title: 'An order with one vote too few is a 403 VOTES_MISSING, however often somebody signed',
      section,
      rule: inOrder,
      advice: 'Count persons, not votes, and not the initiator.',
      needs: ['evm', 'protected', 'authorityKeys'],
      async run(wallet) {
        const { shown } = await shownAuthority(wallet)
        const { initiator, fewer, amount } = signersOf(wallet, shown)
        const { body, order } = await newOrder(wallet, { amount, initiatorId: initiator.person })
        const votes = votesOn(order, shown, initiator, [...fewer, ...fewer, initiator])
        const answer = await handOver(wallet, body, { order, authorityVersion: shown.version, votes })
        await expectRefusal(wallet, body, answer, 'VOTES_MISSING', 'one vote too few')
      },
    },
    {
      id: 'authority.accepted',
      title: 'An order that enough people signed is a 202, and again, and another one under its id is a 409',
      section,
      rule: 'An order under a known id is never a 403: the same order returns its state, another one is a 409.',
      advice: 'Look for the id before the signatures are checked again.',
      needs: ['evm', 'protected', 'authorityKeys'],
      async run(wallet) {
        const { shown } = await shownAuthority(wallet)
        const { initiator, approvers, amount } = signersOf(wallet, shown)
        const { body, order } = await newOrder(wallet, { amount, initiatorId: initiator.person })
        const votes = votesOn(order, shown, initiator, approvers)
        const authorization = { order, authorityVersion: shown.version, votes }
        expectStatus(await handOver(wallet, body, authorization), 202, 'the first time')
        expectStatus(await handOver(wallet, body, authorization), 202, 'the second time')
        expectStatus(await handOver(wallet, { ...body, amount: `${amount}0` }, authorization), 409, 'another amount')
      },
    },
    {
      id: 'authority.replayed',
      title: 'The signatures of one order are a 403 ORDER_DIFFERS for another id',
      section,
      rule: exactly,
      advice: 'The id is signed: compare transferId with the id of the request.',
      needs: ['evm', 'protected', 'authorityKeys'],
      async run(wallet) {
        const { shown } = await shownAuthority(wallet)
        const { initiator, approvers, amount } = signersOf(wallet, shown)
        const { body, order } = await newOrder(wallet, { amount, initiatorId: initiator.person })
        const votes = votesOn(order, shown, initiator, approvers)
        const again = { ...body, id: wallet.nextId() }
        const answer = await handOver(wallet, again, { order, authorityVersion: shown.version, votes })
        await expectRefusal(wallet, again, answer, 'ORDER_DIFFERS', 'the same order under another id')
        const other = { ...order, transferId: again.id }
        const moved = await handOver(wallet, again, { order: other, authorityVersion: shown.version, votes })
        await expectRefusal(wallet, again, moved, 'ORDER_DIFFERS', 'its votes for another order')
      },
    },
    {
      id: 'authority.unprotected',
      title: 'An order with signatures to a client without an authority is a 403',
      section,
      rule: 'To a vault that is not protected, an order with signatures is a 403, too.',
      advice: 'The people who signed it relied on an authority: refuse it with AUTHORITY_VERSION_DIFFERS.',
      needs: ['evm', 'protected'],
      async run(wallet) {
        const { order, shown } = await newOrder(wallet)
        const body = await wallet.order()
        const authorization = { order: { ...order, transferId: body.id }, authorityVersion: shown.version, votes: [] }
        const answer = await wallet.call('POST', '/transfers', { body: { ...body, authorization } })
        expectStatus(answer, 403)
      },
    },
    {
      id: 'authority.next-version',
      title: 'A next version that nobody signed is a 403, and the version in force again changes nothing',
      section,
      rule: 'The next version of the authority must be signed by the people whom the version in force names',
      advice: 'Verify the votes on the hash of the next version against the version in force.',
      needs: ['protected'],
      async run(wallet) {
        const { shown, answer: shownNow } = await shownAuthority(wallet)
        const { authority } = shownNow.json as { authority: Record<string, unknown> }
        const put = (document: unknown) =>
          wallet.call('POST', '/authority', { body: { authority: document, votes: [] }, client: 'protected' })
        const next = { ...authority, version: shown.version + 1, previous: shown.hash }
        expectStatus(await put(next), 403, 'the next version without votes')
        const other = { ...next, previous: randomBytes(32).toString('hex') }
        expectStatus(await put(other), 403, 'one after another version')
        const same = await put(authority)
        expectStatus(same, 200, 'the version in force')
        expectThat((same.json as { hash?: string }).hash === shown.hash, 'another hash is answered', same)
        const now = await wallet.call('GET', '/authority', { client: 'protected' })
        expectThat((now.json as { hash?: string }).hash === shown.hash, 'another version is in force', now)
      },
    },
  ],
}
