import { describe, expect, it } from 'vitest'
import { findMismatch, readSteps, runSteps } from './walk.ts'

const fence = '```'
const guide = [
  'Text.',
  `${fence}sh tour\nNAME=world\n${fence}`,
  `${fence}sh\nexit 1\n${fence}`,
  `${fence}sh tour\necho "hello $NAME"\n${fence}\n\n${fence}\nhello …\n${fence}`,
  `${fence}sh tour\necho '{"id": "c1"}'\n${fence}\n\n${fence}json\n{ "id": "c…" }\n${fence}`,
].join('\n\n')
const options = { cwd: '/', env: { PATH: process.env.PATH } }

describe('a walk through a document', () => {
  it('runs the marked blocks in one shell, and compares their output with the shown answers', async () => {
    const steps = readSteps(guide)
    expect(steps.map(({ line, answer }) => [line, answer?.isJson])).toEqual([
      [3, undefined],
      [11, false],
      [19, true],
    ])
    const printed = await runSteps(steps, options)
    expect(printed).toEqual(['', 'hello world', '{"id": "c1"}'])
    expect(steps.map(({ answer }, index) => answer && findMismatch(answer, printed[index]!))).toEqual([
      null,
      null,
      null,
    ])
  })

  it('says which block failed', async () => {
    const steps = readSteps(guide.replace('echo "hello $NAME"', 'echo "hello $NAM"'))
    await expect(runSteps(steps, options)).rejects.toThrow(/^the block at line 11 failed:[\s\S]*NAM: unbound variable/)
  })

  it.each([
    ['hello', 'hello\nworld'],
    ['1…', '21'],
    ['a.c', 'abc'],
    ['seal true\n…', 'seal trues'],
  ])('expects %j, and does not accept %j', (text, printed) => {
    expect(findMismatch({ isJson: false, text }, printed)).toContain('but got')
  })

  it.each([
    ['{ "a": 1 }', '{"a": 2}', 'answer.a is 2, not 1'],
    ['{ "a": "1" }', '{"a": 1}', 'answer.a is 1, not "1"'],
    ['{ "a": null }', '{}', 'answer has no a'],
    ['{ "a": [1] }', '{"a": [1, 2]}', 'answer.a has 2 items, not 1'],
    ['{ "a": [1, 2, "…"] }', '{"a": [1]}', 'answer.a has 1 items, not 2'],
    ['{ "a": [{ "b": "x…" }] }', '{"a": [{"b": "yx"}]}', 'answer.a[0].b is "yx", not "x…"'],
    ['{ "a": {} }', '{"a": []}', 'answer.a is [], not {}'],
  ])('expects %s, and does not accept %s', (text, printed, message) => {
    expect(findMismatch({ isJson: true, text }, printed)).toContain(message)
  })

  it('accepts any lines, or none, in place of a last line …', () => {
    const answer = { isJson: false, text: 'seal true\n…' }
    for (const printed of ['seal true', 'seal true\nseal false']) expect(findMismatch(answer, printed)).toBeNull()
  })

  it('accepts more items in a list that ends with …, and more fields in objects', () => {
    const text = '{ "a": [{ "b": "1…" }, "…"] }'
    expect(findMismatch({ isJson: true, text }, '{"a": [{"b": "12", "c": null}, 3], "d": 4}')).toBeNull()
  })
})
