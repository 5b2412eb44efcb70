import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createStrongroom } from '../src/strongroom.ts'
import { readOperations } from './operations.js'
import { renderTable, renderTypes } from './render.js'
import { commentOf, typeOf } from './types.js'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const operations = readOperations(document)

describe('the generated methods', () => {
  it('are there for every operation but two', () => {
    expect(operations.filter(({ name }) => name === null).map(({ id }) => id)).toEqual([
      'followMagicLink',
      'receiveWalletEvent',
    ])
  })

  it('have short names', () => {
    const named = operations.filter(({ name }) => name !== null)
    const nameOf = (id) => {
      const { isOfVault, resource, method } = named.find((operation) => operation.id === id).name
      return [isOfVault ? 'vault' : 'strongroom', resource, method].filter(Boolean).join('.')
    }
    const expected = {
      createTransfer: 'vault.transfers.create',
      getTransferEvidence: 'vault.transfers.getEvidence',
      listHistory: 'vault.history.list',
      getVault: 'vault.get',
      lockVault: 'vault.lock',
      replaceRoutes: 'vault.routes.replace',
      createVault: 'strongroom.vaults.create',
      getPolicyGroup: 'vault.policyGroups.get',
      addPolicyGroupMember: 'vault.policyGroups.addMember',
      createPolicy: 'vault.policies.create',
      simulatePolicies: 'vault.policies.simulate',
      createInvitation: 'vault.invitations.create',
      listAuditRecords: 'vault.auditLog.list',
      listPlatformAuditRecords: 'strongroom.auditLog.list',
      updateMyProfile: 'strongroom.me.update',
      removeCounterpartyAddress: 'vault.counterparties.removeAddress',
      reportAccountStatement: 'vault.reports.accountStatement',
      downloadReportExport: 'vault.reports.downloadExport',
      replaceCategoryGrants: 'vault.operationCategories.replaceGrants',
      updateOperationMetadata: 'vault.operations.updateMetadata',
      listRelationsOfOperation: 'vault.operations.listRelations',
    }
    expect(Object.fromEntries(Object.keys(expected).map((id) => [id, nameOf(id)]))).toEqual(expected)
  })

  it.each(operations.filter(({ name }) => name !== null).map((operation) => [operation.id, operation]))(
    '%s sends its verb, path, body and query',
    async (_, { name, verb, path, pathParameters, body, query, answer }) => {
      const sent = []
      const strongroom = createStrongroom({
        baseUrl: 'https://vault.example.org/',
        fetch: async (request) => {
          sent.push({ verb: request.method, url: request.url, text: await request.text() })
          return new Response('{"items":[],"nextCursor":null}', { headers: { 'content-type': 'application/json' } })
        },
      })
      const scope = name.isOfVault ? strongroom.vault('a/b') : strongroom
      const resource = name.resource === '' ? scope : scope[name.resource]
      const free = pathParameters.filter((parameter) => !(name.isOfVault && parameter.name === 'code'))
      const values = free.map((_, index) => `id ${index}`)
      if (body !== null) values.push({ field: 'value' })
      if (query !== null) values.push({ limit: 5, tags: ['a', 'b'], missing: undefined })
      const result = resource[name.method](...values)
      await (answer.kind === 'pages' ? result.page() : result)
      let index = 0
      const filled = path.replace(/\{(\w+)\}/g, (_, parameter) =>
        name.isOfVault && parameter === 'code' ? 'a%2Fb' : `id%20${index++}`,
      )
      const search = query === null ? '' : '?limit=5&tags=a&tags=b'
      expect(sent).toEqual([
        { verb, url: `https://vault.example.org${filled}${search}`, text: body === null ? '' : '{"field":"value"}' },
      ])
    },
  )

  it('refuse an identifier that would lead to another operation', () => {
    const { transfers } = createStrongroom({ baseUrl: 'https://vault.example.org' }).vault('treasury')
    for (const id of ['', '.', '..', undefined]) expect(() => transfers.get(id)).toThrow('id must be an identifier')
  })
})

describe('the types of schemas', () => {
  it.each([
    [{ $ref: '#/components/schemas/Error' }, 'ErrorBody'],
    [{ enum: ['a', "it's", 1] }, "'a' | 'it\\'s' | 1"],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [{ type: 'array', items: { type: 'integer' } }, 'number[]'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Record<string, boolean>'],
    [{ type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{}, 'unknown'],
    [
      { type: 'object', required: ['a'], properties: { a: { type: 'string' }, 'b-c': { type: 'null' } } },
      "{\n  a: string\n  'b-c'?: null\n}",
    ],
  ])('%j is %s', (schema, type) => {
    expect(typeOf(schema)).toBe(type)
  })

  it('keep a description within its comment', () => {
    expect(commentOf('ends with */ here')).toBe('/** ends with *\\/ here */\n')
    const lines = commentOf('word '.repeat(60).trim(), '  ').split('\n')
    expect(lines.length).toBeGreaterThan(4)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120)
  })
})

describe('what the document does not have yet', () => {
  const schemas = {
    Error: { type: 'object', properties: { reason: { enum: ['already_voted', 'insufficient_funds'] } } },
    Report: { type: 'object', required: ['rows'], properties: { rows: { type: 'integer' } } },
  }
  const json = (schema) => ({ content: { 'application/json': { schema } } })
  const generate = (paths) => {
    const document = { components: { schemas }, paths }
    const operations = readOperations(document)
    return { types: renderTypes(document, operations), table: renderTable(operations) }
  }

  it('reasons of errors are a closed list as soon as the schema names them', () => {
    const { types } = generate({})
    expect(types).toContain("reason?: 'already_voted' | 'insufficient_funds'")
    expect(types).toContain("export type ErrorReason = NonNullable<ErrorBody['reason']>")
  })

  it('a report that takes its parameters as a body answers JSON or a file, too', () => {
    const body = { type: 'object', properties: { from: { type: 'string' }, format: { enum: ['json', 'pdf'] } } }
    const answers = {
      ...json({ $ref: '#/components/schemas/Report' }).content,
      'application/pdf': { schema: { format: 'binary' } },
    }
    const { types, table } = generate({
      '/api/v1/vaults/{code}/reports/activity': {
        post: {
          operationId: 'postReportActivity',
          summary: 'Get the report',
          parameters: [{ in: 'path', name: 'code', schema: { type: 'string' } }],
          requestBody: json(body),
          responses: { 200: { content: answers } },
        },
      },
    })
    expect(types).toContain(
      "postActivity(body: PostReportActivityBody & { format: 'pdf' }, options?: CallOptions): Promise<FileAnswer>",
    )
    expect(types).toContain(
      "postActivity(body?: PostReportActivityBody & { format?: 'json' }, options?: CallOptions): Promise<Report>",
    )
    expect(table).toContain("postActivity: ['POST', '/api/v1/vaults/{code}/reports/activity', 'body', 'report']")
  })

  it('a file is sent as a Blob, instead of JSON or as one more form of it', () => {
    const file = (type) => ({ [type]: { schema: { type: 'string', format: 'binary' } } })
    const operation = (operationId, content) => ({
      operationId,
      summary: 'Send',
      parameters: [{ in: 'path', name: 'code', schema: { type: 'string' } }],
      requestBody: { content },
      responses: { 200: json({ type: 'object', properties: { id: { type: 'string' } } }) },
    })
    const rows = { type: 'object', properties: { rows: { type: 'array', items: { type: 'string' } } } }
    const { types, table } = generate({
      '/api/v1/users/me/image': { put: operation('replaceMyImage', file('image/png')) },
      '/api/v1/vaults/{code}/payouts': {
        post: operation('createPayout', { ...json(rows).content, ...file('text/csv') }),
      },
    })
    expect(types).toContain('replaceImage(body: Blob, options?: CallOptions)')
    expect(types).toContain('create(body?: CreatePayoutBody | Blob, options?: CallOptions)')
    expect(table).toContain("replaceImage: ['PUT', '/api/v1/users/me/image', 'body'],")
  })

  it('two operations of one name are refused', () => {
    const operation = (operationId) => ({ operationId, summary: 'List', responses: { 200: json({ type: 'object' }) } })
    expect(() =>
      generate({
        '/api/v1/tokens': { get: operation('listTokens') },
        '/api/v1/tokens/all': { get: operation('listTokens') },
      }),
    ).toThrow('listTokens and listTokens are both strongroom.tokens.list')
  })
})
