import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

/** Runs every request of docs/sharing.md in the order of the manual, and compares the answers. */
const manual = await readFile(new URL('../../../../../docs/sharing.md', import.meta.url), 'utf8')
const blocks = [...manual.matchAll(/^```(http|json answer)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
  kind: kind!,
  text: text!,
}))

let bench: TransferBench
const people = new Map<string, Person>()
const ids = new Map<string, string>()

beforeAll(async () => {
  bench = await createTransferBench()
  const { test, vault } = bench
  people.set('the owner', bench.owner)
  people.set('the auditor', await addMember(test, vault, 'auditor@example.org', ['reviewers']))
  people.set('the clerk', await addMember(test, vault, 'clerk@example.org', ['clerks']))
  for (const [name, { userId }] of people) ids.set(name, userId)
  ids.set('the clerks', await ensureGroup(vault, 'clerks'))
  // The bench allows everybody to pay alone. Payments of clerks need a vote.
  await bench.policy({
    groupId: ids.get('the clerks')!,
    code: 'clerks-ask',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: bench.approversId }],
  })
  const address = await bench.fundedAddress()
  await bench.owner.patch(`/vaults/main-vault/addresses/${address.id}`, { label: 'Suppliers, EU' })
  ids.set('the address', address.id)
})
afterAll(() => bench.close())

const filled = (text: string) =>
  text.replace(/<id of ([^>]+)>/g, (placeholder, name) => {
    const id = ids.get(name)
    expect(id, `${placeholder} is known by then`).toBeDefined()
    return id!
  })

async function send(text: string) {
  const [, method, path, status, by = 'the owner', body] =
    /^(GET|POST|DELETE) (\S.*?) → (\d+)(?: as (.+))?\n([\s\S]*)$/.exec(text) ?? []
  expect(method, text).toBeDefined()
  const person = people.get(by)
  expect(person, `${by} is known`).toBeDefined()
  const verb = method!.toLowerCase() as 'get' | 'post' | 'delete'
  const answer = await person![verb](filled(path!), ...(verb === 'post' ? [JSON.parse(filled(body!))] : []))
  expect(answer.status, `${text}\n${JSON.stringify(answer.body)}`).toBe(Number(status))
  return answer
}

describe('docs/sharing.md', () => {
  it('states the answers of its requests, one after the other', async () => {
    let last: Answer<unknown> | undefined
    for (const { kind, text } of blocks) {
      if (kind === 'json answer') {
        expect(last?.body, text).toMatchObject(JSON.parse(text))
        continue
      }
      last = await send(text)
      const { id, name, items } = (last.body ?? {}) as { id: string; name?: string; items?: { id: string }[] }
      if (name !== undefined) ids.set(name, id)
      const item = items?.at(-1)
      if (item !== undefined) ids.set('the last item', item.id)
    }
    expect(blocks.filter(({ kind }) => kind === 'http').length).toBeGreaterThanOrEqual(15)
  })
})
