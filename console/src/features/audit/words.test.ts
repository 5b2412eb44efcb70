import { expect, it } from 'vitest'
import { actionWords } from './words.ts'

it.each([
  ['transfer.released', 'Transfer: approved, queued for delivery'],
  ['hold.released', 'Hold: lifted'],
  ['policy.updated', 'Policy: changed'],
  ['something_new.turned_up', 'something new: turned up'],
])('%s is "%s"', (action, words) => {
  expect(actionWords(action)).toBe(words)
})
