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
  ['what has no name', { reason: 'It had not' }, 'c1'],
])('%s is shown by its name and not by an id', (_what, payload, name) => {
  const step = { action: 'rules_change', targetId: 'c1', payload }
  expect(subjectOf([{ step, targetId: 'c1' } as unknown as PreparedStep], null)).toBe(name)
})
