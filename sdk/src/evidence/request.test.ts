import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canonicalJson, hashOf } from '../signing/canonical.ts'
import { readRequest, verifyRequest } from './request.ts'

type Payload = Record<string, unknown>

/** A request for a change of the rules as the API answers it, with votes that its voters signed. */
async function requestFor(payload: Payload, decisions: string[], change = (bound: Payload) => bound) {
  const step = { action: 'rules_change', targetId: 'set', payload }
  const boundPayload = { requestId: 'r', vaultId: 'v', initiatorId: 'ada', action: 'rules_change', steps: [{ step }] }
  const payloadHash = await hashOf(boundPayload)
  const signedVotes = decisions.map((decision, i) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const vote = {
      ...{ format: 'strongroom-vote-2', subject: 'approval_request', hash: payloadHash, decision, person: `p${i}` },
      ...{ authority: null, signedAt: '2026-11-01T12:00:00.000Z' },
    }
    const signature = sign(null, Buffer.from(canonicalJson(vote)), privateKey).toString('base64url')
    const spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
    return { signed: { vote, keyId: 'k', signature }, publicKey: spki, rpId: null, origin: null, createdAt: '' }
  })
  return readRequest(JSON.stringify({ boundPayload: change(boundPayload), payloadHash, signedVotes }))!
}

const rules = { title: 'Night', changes: [], direction: 'loosening', baseVersion: 4 }
const differencesHash = 'ab'.repeat(32)

describe('T58 a request for a change of the rules', () => {
  it('is proved by its votes where they are bound to the differences', async () => {
    const { isHashed, bindsDifferences, votes } = await verifyRequest(
      await requestFor({ ...rules, differencesHash }, ['approve', 'approve']),
    )
    expect([isHashed, bindsDifferences, votes.map(({ state }) => state)]).toEqual([true, true, ['holds', 'holds']])
  })

  it.each([{}, { differencesHash: '' }, { differencesHash: null }, { differencesHash: 'AB'.repeat(32) }])(
    'of an early version of the service (%j) is not taken for proved: its approvals are open, a rejection holds',
    async (part) => {
      const { isHashed, bindsDifferences, votes } = await verifyRequest(
        await requestFor({ ...rules, ...part }, ['approve', 'approve', 'reject']),
      )
      expect([isHashed, bindsDifferences]).toEqual([true, false])
      expect(votes.map(({ state }) => state)).toEqual(['open', 'open', 'holds'])
    },
  )

  it('whose hash of the differences was taken out afterwards fails', async () => {
    const without = (bound: Payload) => ({ ...bound, steps: [{ step: { action: 'rules_change', payload: rules } }] })
    const file = await requestFor({ ...rules, differencesHash }, ['approve'], without)
    expect((await verifyRequest(file)).isHashed).toBe(false)
  })

  it('may stand anywhere among the steps', async () => {
    const among = { step: { action: 'create_address', payload: {} } }
    const bound = (payload: Payload) => ({ steps: [among, { step: { action: 'rules_change', payload } }] })
    const verdict = (boundPayload: Payload) => verifyRequest({ boundPayload, payloadHash: '', signedVotes: [] })
    expect((await verdict(bound(rules))).bindsDifferences).toBe(false)
    expect((await verdict(bound({ ...rules, differencesHash }))).bindsDifferences).toBe(true)
    expect((await verdict({ steps: [among, null, 1, {}] })).bindsDifferences).toBe(true)
  })
})
