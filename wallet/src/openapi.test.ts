import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { buildOpenApi } from './openapi.ts'

test('docs/wallet-protocol.openapi.json is current; `npm run openapi -w wallet` writes it', () => {
  const file = new URL('../../docs/wallet-protocol.openapi.json', import.meta.url)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(buildOpenApi())
})

test('every reference in the document has its component', () => {
  const text = JSON.stringify(buildOpenApi())
  const { components } = JSON.parse(text)
  const names = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) expect(Object.keys(components.schemas)).toContain(name)
})
