import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenApiDocument } from '../../../http/openapi-document.ts'
import type { Answer } from '../../../testing/answer.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { addMember, allowAll, createAddress, createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'
import { actionTypes } from '../selectors/facts.ts'
import { findSelectorFault, renderSelectorTable, selectorTypes } from '../selectors/selectors.ts'

/** Every request and example of docs/policies.md, run in the order in which the manual has them. */
const manual = await readFile(new URL('../../../../../docs/policies.md', import.meta.url), 'utf8')
const blocks = [...manual.matchAll(/^```(http|json answer|json)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
  kind: kind!,
  text: text!,
}))

let test: TestApp
let vault: VaultFixture
const ids = new Map<string, string>()

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  ids.set('everyone', vault.groups.everyone)
  for (const [name, email] of [
    ['the treasurer', 'treasurer@example.org'],
    ['the first approver', 'first.approver@example.org'],
    ['the second approver', 'second.approver@example.org'],
    ['the director', 'director@example.org'],
  ]) {
    ids.set(name!, (await addMember(test, vault, email!)).userId)
  }
  for (const actionType of ['create_address', 'counterparty_create', 'counterparty_group_create']) {
    await allowAll(vault, actionType)
  }
  ids.set('the address', (await createAddress(vault.admin, { token: 'USDT' })).id)
  const made = async (path: string, body: object) => {
    const answer = await vault.admin.post(`/vaults/main-vault/${path}`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body.id
  }
  ids.set('the counterparty', await made('counterparties', { name: 'A supplier', kind: 'company' }))
  await made('operation-categories', { key: 'payroll', name: 'Payroll' })
  ids.set('the folder', await made('address-groups', { name: 'Payroll' }))
  ids.set('the counterparty group', await made('counterparty-groups', { code: 'suppliers', name: 'Suppliers' }))
})
afterAll(() => test.close())

const filled = (text: string) =>
  text.replace(/<id of ([^>]+)>/g, (placeholder, name) => {
    const id = ids.get(name)
    expect(id, `${placeholder} is known by then`).toBeDefined()
    return id!
  })

describe('docs/policies.md', () => {
  it('has the table of selectors that the code has', () => {
    const [, table] = /<!-- selectors:.*?-->\n([\s\S]*?)\n<!-- \/selectors -->/.exec(manual) ?? []
    // The formatter pads the columns of the manual.
    const cells = (text = '') =>
      text
        .split('\n')
        .slice(2)
        .map((row) => row.split('|').map((cell) => cell.trim()))
    expect(cells(table)).toEqual(cells(renderSelectorTable()))
  })

  it('the description of the API has the same table', async () => {
    const { body } = await test.anonymous.get('//openapi.json')
    const paths = body.paths as OpenApiDocument['paths']
    const { description } =
      paths['/api/v1/policy-groups/{id}/policies']!.post!.requestBody!.content!['application/json']!.schema!
    expect(description).toContain(renderSelectorTable())
  })

  it('has an example of every selector', () => {
    const shown = new Set([...manual.matchAll(/"selectorType": "(\w+)"/g)].map(([, name]) => name))
    expect([...shown].sort()).toEqual([...selectorTypes].sort())
  })

  it('its requests are answered as it says, one after the other', async () => {
    let last: Answer<unknown> | undefined
    let counter = 0
    for (const { kind, text } of blocks) {
      if (kind === 'http') {
        const [, method, path, status, body] = /^(POST|PATCH) (\S.*?) → (\d+)\n([\s\S]*)$/.exec(text) ?? []
        expect(method, text).toBeDefined()
        last = await vault.admin[method === 'POST' ? 'post' : 'patch'](filled(path!), JSON.parse(filled(body!)))
        expect(last.status, `${text}\n${JSON.stringify(last.body)}`).toBe(Number(status))
        const { id, code } = last.body as { id: string; code?: string }
        if (code !== undefined) ids.set(code, id)
      } else if (kind === 'json answer') {
        expect(last?.body, text).toMatchObject(JSON.parse(text))
      } else {
        const selector = JSON.parse(filled(text))
        const actionType = actionTypes.find(
          (candidate) => findSelectorFault(candidate, selector.selectorType, selector.value) === null,
        )
        expect(actionType, text).toBeDefined()
        const answer = await vault.admin.post(`/policy-groups/${vault.groups.administrators}/policies`, {
          code: `example-${++counter}`,
          name: 'An example',
          actionType,
          effect: 'block',
          rules: [{ conditionType: 'require', selectors: [selector] }],
        })
        expect(answer.status, `${text}\n${JSON.stringify(answer.body)}`).toBe(201)
      }
    }
    expect(counter).toBe(selectorTypes.length)
  })
})
