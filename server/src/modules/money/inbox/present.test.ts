import { expect, it } from 'vitest'
import type { PreparedStep } from '../../rules/votes/executor.ts'
import { subjectOf } from './present.ts'

it.each([
  [
    'a change of the rules',
    { title: 'Invitation "auditor@example.org"', changes: [] },
    'Invitation "auditor@example.org"',
  ],
  ['the release of a hold', { reason: 'It had not', hold: { subjectName: 'Operations' } }, 'Operations'],
  ['a request without a name', { reason: 'It had not' }, 'c1'],
])('the subject of %s is its name, or its id if it has no name', (_request, payload, name) => {
  const step = { action: 'rules_change', targetId: 'c1', payload }
  expect(subjectOf([{ step, targetId: 'c1' } as unknown as PreparedStep], null)).toBe(name)
})
