import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'

import { createGovernanceBench } from '../../../testing/governance-bench.ts'

/** Every request of docs/governance.md, run in the order in which the manual has them. */
const manual = await readFile(new URL('../../../../../docs/governance.md', import.meta.url), 'utf8')
const blocks = [...manual.matchAll(/^```(http|json answer)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
  kind: kind!,
  text: text!,
}))

test('the requests of docs/governance.md are answered as it says', async () => {
  const bench = await createGovernanceBench()
  const names = new Map([
    ['id of everyone', bench.vault.groups.everyone],
    ['number of the first version', '1'],
  ])
  const filled = (text: string) => text.replace(/<((?:id|number) of [^>]+)>/g, (_, name) => names.get(name)!)
  let last: Answer<unknown> | undefined
  for (const { kind, text } of blocks) {
    if (kind === 'json answer') {
      expect(last?.body, text).toMatchObject(JSON.parse(text))
      continue
    }
    const [, method, path, status, body] = /^(GET|POST|PUT|DELETE) (\S.*?) → (\d+)\n([\s\S]*)$/.exec(text) ?? []
    const verb = method!.toLowerCase() as 'get' | 'post' | 'put' | 'delete'
    const payload = body === '' ? undefined : JSON.parse(filled(body!))
    last = await bench.vault.admin.send(verb, filled(path!), payload)
    expect(last.status, `${text}\n${JSON.stringify(last.body)}`).toBe(Number(status))
    if (last.status === 201) {
      const { id, code } = last.body as { id: string; code?: string }
      names.set(`id of ${code ?? 'the draft'}`, id)
    }
  }
  await bench.close()
})
