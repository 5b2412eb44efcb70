import { beforeAll, describe, expect, it, vi } from 'vitest'
import { policiesOf, templates } from './templates.ts'
import { draftOf, emptyDraft } from './terms.ts'
import { sentenceOf } from './words.ts'

const called: Record<string, string> = {
  treasury: 'Treasury',
  board: 'Board',
  everyone: 'Everyone',
  suppliers: 'Suppliers',
}
const names = (_kind: string, id: string) => called[id] ?? id

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en-GB'] })
  return () => vi.unstubAllGlobals()
})

describe('a policy as a sentence', () => {
  const votes = { approvers: [{ kind: 'group' as const, id: 'board' }], approvalThreshold: 2 }
  const token = { negated: false, clauses: [{ selectorType: 'token', value: ['TUSD'] }] }
  const above = { negated: false, clauses: [{ selectorType: 'amount', value: { op: 'gt', value: '1000' } }] }
  const strange = { negated: true, clauses: [{ selectorType: 'counterpartyGroup', value: ['suppliers'] }] }
  it.each([
    [{}, 'When anyone in Treasury orders a transfer, then 1 of Treasury must agree.'],
    [
      { ...votes, terms: [token, above, strange] },
      'When anyone in Treasury orders a transfer and the token is TUSD, the amount is more than 1,000 TUSD and ' +
        'the group of the counterparty is not Suppliers, then 2 of Board must agree.',
    ],
    [
      { effect: 'block' as const, terms: [{ negated: false, clauses: [...above.clauses, ...strange.clauses] }] },
      'When anyone in Treasury orders a transfer and the amount is more than 1,000 or the group of the counterparty is ' +
        'Suppliers, then it is refused.',
    ],
    [
      { effect: 'allow' as const, approvalThreshold: 0, actionType: 'create_address' as const },
      'When anyone in Treasury orders a new address, then it is allowed.',
    ],
  ])('%j', (change, sentence) => {
    expect(sentenceOf({ ...emptyDraft('treasury'), ...change }, names)).toBe(sentence)
  })
})

describe('templates', () => {
  const slots = {
    ...{ groupId: 'treasury', approversId: 'board', secondApproversId: 'board', everyoneId: 'everyone' },
    ...{ token: 'TUSD', low: '100', high: '10000' },
  }

  it.each([
    ['layers', 4],
    ['four_eyes', 1],
    ['daily_ceiling', 1],
    ['known_recipients', 1],
  ] as const)('%s makes %i policies with codes of their own', (id, count) => {
    const taken = policiesOf(id, slots, []).map(({ code }) => code)
    const made = policiesOf(id, slots, taken)
    expect(made).toHaveLength(count)
    expect(new Set([...taken, ...made.map(({ code }) => code)]).size).toBe(2 * count)
    expect(templates().map((template) => template.id)).toContain(id)
  })

  it('describe their effect', () => {
    const [ceiling] = policiesOf('daily_ceiling', slots, [])
    const policy = { ...draftOf(partsOf(ceiling!)) }
    expect(sentenceOf(policy, names)).toBe(
      'When anyone in Everyone orders a transfer and the token is TUSD and the sum of the token within 24 hours by the ' +
        'whole vault is more than 10,000 TUSD, then it is refused.',
    )
  })
})

function partsOf(policy: ReturnType<typeof policiesOf>[number]) {
  return {
    ...{ blockReason: null, approvalThreshold: 0, adminBypass: false, allowInitiatorApproval: false, enabled: true },
    ...{ approvers: [], rules: [] },
    ...policy,
  } as Parameters<typeof draftOf>[0]
}
