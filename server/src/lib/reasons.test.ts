import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { reasons } from './reasons.ts'

it('docs/errors.md lists exactly the reasons of the code, with their statuses', async () => {
  const text = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` +\| (\d{3}) +\|/gm)].map(([, reason, status]) => [reason, Number(status)])
  expect(rows).toEqual(Object.entries(reasons))
})
