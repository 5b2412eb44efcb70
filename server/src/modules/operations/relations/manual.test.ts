import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { relationsPerOperationMax } from '../../../lib/limits.ts'
import type { Answer, OperationRelation } from '../../../testing/answer.ts'

import { deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

/** Every request of docs/relations.md, run in the order of the manual. */
const manual = await readFile(new URL('../../../../../docs/relations.md', import.meta.url), 'utf8')
const blocks = [...manual.matchAll(/^```(http|json answer)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
  kind: kind!,
  text: text!,
}))

let bench: TransferBench
const ids = new Map<string, string>()

beforeAll(async () => {
  bench = await createTransferBench()
  const address = await bench.fundedAddress({ usdt: '50' })
  const { body } = await deposit(bench.test, { address: address.address, asset: usdtContract, amount: '10' })
  ids.set('the deposit', body.depositId)
  ids.set('the transfer', (await bench.order(address.id, '4')).body.id)
  ids.set('the second transfer', (await bench.order(address.id, '7')).body.id)
  ids.set('the token', bench.vault.tokens.usdt.id)
})
afterAll(() => bench.close())

const filled = (text: string) =>
  text.replace(/<id of ([^>]+)>/g, (placeholder, name) => {
    const id = ids.get(name)
    expect(id, `${placeholder} is known by then`).toBeDefined()
    return id!
  })

it('answers the requests of docs/relations.md as documented, one after the other', async () => {
  let last: Answer<unknown> | undefined
  for (const { kind, text } of blocks) {
    if (kind === 'json answer') {
      expect(last?.body, text).toMatchObject(JSON.parse(filled(text)))
      continue
    }
    const [, method, path, status, body] = /^(POST|GET|DELETE) (\S.*?) → (\d+)\n([\s\S]*)$/.exec(text) ?? []
    expect(method, text).toBeDefined()
    const url = filled(path!)
    if (method === 'POST') last = await bench.owner.post(url, JSON.parse(filled(body!)))
    else last = await bench.owner[method === 'GET' ? 'get' : 'delete'](url)
    expect(last.status, `${text}\n${JSON.stringify(last.body)}`).toBe(Number(status))
    if (last.status === 201) ids.set('the relation', (last.body as OperationRelation).id)
  }
  expect(blocks).toHaveLength(10)
})

it('has the limit of relations that docs/relations.md names', () => {
  expect(manual).toContain(`it has at most ${relationsPerOperationMax} in all`)
})
