import { expect, it } from 'vitest'
import { withoutRepetition } from './render.js'

const members = Array.from(
  { length: 20 },
  (_, number) => `  /** ${'A filter of operations. '.repeat(5)} */\n  filter${number}?: string\n`,
)
const interfaceOf = (name, lines) => `export interface ${name} {\n${lines.join('')}}\n`

it('an interface extends the earlier interface that has nothing but its members', () => {
  const text = withoutRepetition(
    interfaceOf('First', members) + interfaceOf('Second', [...members, '  more: string\n']),
  )
  expect(text).toBe(`${interfaceOf('First', members)}export interface Second extends First {\n  more: string\n}\n`)
})

it('parameters extend those of another operation without what they lack, and other types do not', () => {
  const first = ['  lacking?: string\n', ...members]
  const second = [...members, '  more?: string\n']
  expect(withoutRepetition(interfaceOf('FirstQuery', first) + interfaceOf('SecondQuery', second))).toBe(
    `${interfaceOf('FirstQuery', first)}export interface SecondQuery extends Omit<FirstQuery, 'lacking'> {\n  more?: string\n}\n`,
  )
  const types = interfaceOf('First', first) + interfaceOf('Second', second)
  expect(withoutRepetition(types)).toBe(types)
})
