import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../server/src/app.ts'
import type { App } from '../server/src/http/endpoints.ts'
import { mediaTypes } from '../server/src/modules/reports/files/formats.ts'
import { openDeps } from '../server/src/start.ts'
import { answerCheckOf } from '../server/src/testing/answer-check.ts'
import { createTestApp, type TestApp } from '../server/src/testing/app.ts'
import { describedApiOf } from '../server/src/testing/described-api.ts'
import { readArchive } from '../server/src/testing/read-files.ts'
import { withoutRequestId } from '../server/src/testing/without-request-id.ts'
import { expectations, type Request, type Row } from './access-matrix/expectations.ts'
import { recordStatements, type Statement } from './access-matrix/statements.ts'
import { inTurn, isWhole } from './access-matrix/turns.ts'
import {
  type Caller,
  callerNames,
  createWorld,
  fresh,
  nameOf,
  type Resources,
  toCaller,
  viewerNames,
  type World,
} from './access-matrix/world.ts'

type Operation = {
  operationId: string
  method: string
  path: string
  isPublic: boolean
  queryNames: string[]
  /** Names of the body's fields; null without a body. */
  bodyNames: string[] | null
}
type Answer = { status: number; text: string; statements: Statement[] }

const test: TestApp = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
const operations = operationsOf(test.app)
const tested = operations.filter(({ operationId }) => expectations[operationId] !== undefined)
const ofVaults = tested.filter(({ path }) => path.includes('{code}'))
const guarded = tested.filter(({ isPublic }) => !isPublic)
const check = answerCheckOf(test.app)
const checked = new Set<string>()
const recorder = recordStatements()
/** A connection as the owner of the database, to inspect the statements of the service. */
const owner = new pg.Pool({ connectionString: test.databaseUrl, max: 1 })
let world: World

/** Another node of the service: its own connections to the same database. */
let secondNode: { app: App; close(): Promise<void> }

beforeAll(async () => {
  world = await createWorld(test)
  const { deps, close } = await openDeps(test.deps.config, test.databaseUrl, pino({ level: 'silent' }), test.clock.now)
  const app = await createApp(deps)
  secondNode = { app, close: () => app.close().then(close) }
})
afterAll(async () => {
  recorder.stop()
  await secondNode?.close()
  await owner.end()
  await test.close()
})

describe('the table', () => {
  it('T39 has one row for each operation of openapi.json, and no other rows', () => {
    expect(Object.keys(expectations).sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
  })

  it('T39 has a value for every filter that names a resource of a vault', () => {
    const named = ofVaults.flatMap(({ queryNames }) => queryNames.filter((name) => /Ids?$/.test(name)))
    const known = filtersOf(named).map(({ name }) => name)
    expect([...new Set(named)].filter((name) => !/^(token|network)Ids?$/.test(name) && !known.includes(name))).toEqual(
      [],
    )
  })

  it('T39 has every kind of caller, and callers whose credentials are not valid', () => {
    const { callers, refused } = world
    expect(Object.values(callers).map(({ name }) => name)).toEqual(callerNames.filter((name) => name !== 'nobody'))
    expect(refused.map(({ name }) => name)).toEqual(expect.arrayContaining(['anonymous', 'expired session']))
  })

  it('T39 has a status for every caller', () => {
    for (const [operationId, { expected }] of Object.entries(expectations)) {
      expect(Object.values(expected).filter(Number.isInteger), operationId).toHaveLength(callerNames.length)
    }
  })

  it('T39 lets nobody in without a credential where openapi.json demands one', () => {
    for (const { operationId } of guarded) expect(rowOf(operationId).expected.nobody, operationId).toBe(401)
  })
})

describe('the secret strings', () => {
  const reads = guarded.filter(({ method }) => method === 'GET')

  it('T39 are in the answers to administrators, so that their absence from other answers means something', async () => {
    const text = await readAll(world.callers.admin)
    const secrets = Object.values(world.main.secrets).flatMap((strings) => [...strings])
    expect(secrets.length).toBeGreaterThan(30)
    // A service token is shown only once, so it is not in these answers.
    const unseen = secrets.filter((secret) => !text.includes(secret) && !secret.startsWith('srk_'))
    expect(unseen).toEqual([])
  })

  it.for(viewerNames)('T39 of shared resources are in the answers to %s', async (name) => {
    const text = await readAll(world.callers[name])
    const { shared, asked: requested } = world.main.secrets
    expect(shared.size).toBeGreaterThan(10)
    expect([...shared, ...requested].filter((secret) => !text.includes(secret))).toEqual([])
  })

  /** Returns the answers of all reads in one text, with the widest parameters. */
  async function readAll(caller: Caller): Promise<string> {
    const widest = { limit: '100', includeShared: 'true', access: 'all' }
    // Created first, because the lists would omit rows that are created later.
    const requests = await Promise.all(reads.map((operation) => validRequest(operation, world.main.resources)))
    const read = async (operation: Operation, { query, ...request }: Request) => {
      const more = Object.entries(widest).filter(([name]) => operation.queryNames.includes(name))
      const answer = await send(operation, caller, { ...request, query: { ...Object.fromEntries(more), ...query } })
      return answer.text
    }
    // One after the other: a busy machine refuses some of many simultaneous requests for lack of capacity.
    const texts: string[] = []
    for (const [index, operation] of reads.entries()) texts.push(await read(operation, requests[index]!))
    return texts.join('\n')
  }
})

/** The preview of a replacement is a POST that changes nothing. It needs the right to replace. */
const changesSomething = ({ method, operationId }: Operation) =>
  method !== 'GET' && operationId !== 'previewTransferReplacement'

describe('every operation by every caller', () => {
  it.for(tested)('T39 $operationId answers each caller as the table says and gives nothing away', async (operation) => {
    const { expected, endsSession = false } = rowOf(operation.operationId)
    const faults: string[] = []
    const judge = async (caller: Caller, status: number) => {
      const request = await validRequest(operation, world.main.resources)
      const sender = endsSession ? await withSessionOfItsOwn(caller) : caller
      const answer = await send(operation, sender, request)
      if (answer.status !== status)
        faults.push(`${caller.name}: ${answer.status} instead of ${status} ${answer.text.slice(0, 500)}`)
      faults.push(...leaksOf(operation, caller, request, answer))
      const isWriteOfAuditor = caller.name === 'auditor' && changesSomething(operation) && expected.admin !== 403
      if (isWriteOfAuditor && status === 403 && JSON.parse(answer.text).reason !== 'auditor_reads_only')
        faults.push(`${caller.name}: ${answer.text}`)
      if (status === 200 && operation.queryNames.includes('format')) {
        const inCsv = { ...request, query: { ...request.query, format: 'csv' } }
        const file = await send(operation, caller, inCsv)
        if (!file.text.startsWith('\uFEFF')) faults.push(`${caller.name}: no file but ${file.text.slice(0, 500)}`)
        faults.push(...leaksOf(operation, caller, inCsv, file))
      }
      if (status !== 404) return
      const absent = await send(operation, caller, await validRequest(operation, world.absentIn('harbour')))
      if (absent.text !== answer.text) faults.push(`${caller.name}: ${answer.text} differs from ${absent.text}`)
      if (ofVaults.includes(operation)) expect(answer.statements.length, operation.operationId).toBeGreaterThan(1)
      if (workOf(absent) !== workOf(answer))
        faults.push(`${caller.name}: ${workOf(answer)} differs from ${workOf(absent)}`)
    }
    // Credentials are looked at before the operation is known: each kind that is not valid asks for some operations.
    const [anonymous, ...others] = world.refused
    const refused = [anonymous!, ...inTurn(others, tested.indexOf(operation), 2)]
    await Promise.all(refused.map((caller) => judge(caller, expected.nobody)))
    for (const caller of Object.values(world.callers))
      await judge(caller, expected[caller.name as keyof typeof expected])
    expect(faults).toEqual([])
  })
})

describe('HEAD', () => {
  const reads = tested.filter(({ method }) => method === 'GET')

  it.for(reads)('T39 $operationId answers it with the status of GET, and no body', async (operation) => {
    const { expected } = rowOf(operation.operationId)
    const head = { ...operation, method: 'HEAD' }
    // The tests above send GET as every caller, and HEAD takes the same path. Here one caller for each status sends
    // HEAD, and the next operation uses the next caller, so that every caller sends HEAD.
    const turn = reads.indexOf(operation)
    const next = <Value>(values: Value[]): Value => values[turn % values.length]!
    const ask = async (caller: Caller, status: number) => {
      const answer = await send(head, caller, await validRequest(operation, world.main.resources))
      expect([answer.status, answer.text], caller.name).toEqual([status, ''])
    }
    await ask(next(world.refused), expected.nobody)
    const callers = Object.values(world.callers)
    const statusOf = (caller: Caller) => expected[caller.name as keyof typeof expected]
    for (const status of new Set(callers.map(statusOf)))
      await ask(next(callers.filter((caller) => statusOf(caller) === status)), status)
  })
})

describe('hidden resources', () => {
  /** Up to five lookups by key. Each reads two pages, or three if the index has two levels. */
  const hiddenPagesMax = 15
  const hiding = guarded.filter(
    (operation) => operation.method === 'GET' && rowOf(operation.operationId).expected.other === 404,
  )

  // Without fresh statistics the plans, and so the pages, depend on the last run of autovacuum: PostgreSQL takes a
  // table without statistics for tiny, and then searches for an address among all addresses of the vault.
  beforeAll(async () => {
    await owner.query('analyze')
  })

  it.for(hiding)('T39 $operationId reads as many pages for them as for absent resources', async (operation) => {
    for (const name of ['other', 'service'] as const) {
      const costOf = async (resources: Resources) => {
        const { status, statements } = await send(
          operation,
          world.callers[name],
          await validRequest(operation, resources),
        )
        expect(status, name).toBe(404)
        return buffersOf(statements)
      }
      const absent = await costOf(world.absentIn('harbour'))
      const hidden = await costOf(world.main.resources)
      expect(hidden.length, name).toBe(absent.length)
      expect(hidden.length, name).toBeGreaterThan(1)
      // Existing rows are looked up before the request is refused; that is a few pages, regardless of the size of the vault.
      for (const [index, pages] of hidden.entries()) {
        expect(Math.abs(pages - absent[index]!), `${name}, statement ${index + 1}`).toBeLessThanOrEqual(hiddenPagesMax)
      }
    }
  })

  /** Returns the number of pages that each reading statement touches. */
  async function buffersOf(statements: Statement[]): Promise<number[]> {
    const buffers: number[] = []
    for (const { text, values } of statements) {
      if (!/^(\/\*.*?\*\/)?\s*(select|with)\b/i.test(text)) continue
      const explain = () => owner.query(`explain (analyze, buffers, format json) ${text}`, values)
      // The first read sets hint bits of committed rows, and touches more pages for it.
      await explain()
      const { rows } = await explain()
      const { Plan: plan } = rows[0]['QUERY PLAN'][0]
      buffers.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
    }
    return buffers
  }
})

describe('ids of another vault', () => {
  const members = ['owner', 'grantee', 'other', 'approver', 'admin', 'service'] as const
  const referring = guarded.filter(
    (operation) =>
      refersToSomething(operation) &&
      !rowOf(operation.operationId).ofRegistry &&
      !rowOf(operation.operationId).ofNumbers,
  )

  it.for(referring)('T39 $operationId answers to them as to ids that never existed', async (operation) => {
    const { expected } = rowOf(operation.operationId)
    const foreign = { ...world.rival.resources, code: 'harbour' }
    // Those who may use the operation get as far as its ids; the others are refused before, and take turns.
    const permitted = members.filter((name) => permittedCaller(operation) === world.callers[name])
    for (const name of new Set([...permitted, ...inTurn(members, referring.indexOf(operation), 2)])) {
      const caller = world.callers[name]
      const answer = await send(operation, caller, await validRequest(operation, foreign))
      const absent = await send(operation, caller, await validRequest(operation, world.absentIn('harbour')))
      expect(answer.text, name).toBe(absent.text)
      expect([403, 404], `${name}: ${answer.text}`).toContain(answer.status)
      if (expected[name] < 300) expect(answer.status, name).toBe(404)
    }
  })

  it('T39 find nothing if a request names them outside of its path', async () => {
    for (const operation of tested) {
      const { reaches } = rowOf(operation.operationId)
      if (reaches === undefined) continue
      const foreign = await reaches(world.main.resources, world.rival.resources)
      const absent = await reaches(world.main.resources, world.absentIn('harbour'))
      for (const [index, request] of foreign.entries()) {
        const answer = await send(operation, permittedCaller(operation), request)
        const other = await send(operation, permittedCaller(operation), absent[index]!)
        expect(withoutIds(answer.text), `${operation.operationId} ${index}`).toBe(withoutIds(other.text))
      }
    }
  })

  const filtered = ofVaults.filter(({ method, queryNames }) => method === 'GET' && filtersOf(queryNames).length > 0)
  it.for(filtered)('T39 $operationId finds the same by them as by ids that never existed', async (operation) => {
    const turn = filtered.indexOf(operation)
    for (const [index, filter] of filtersOf(operation.queryNames).entries()) {
      // Reports have many filters, and one way to read them.
      const others = isReport(operation) && !isWhole ? [] : inTurn(members, turn + index, 1)
      for (const name of new Set(['other', ...others] as const)) {
        // Within the vault too, a member must not reach what belongs to others and may not be seen by them.
        const valid = await validRequest(operation, world.main.resources)
        const isWhatItIsAbout = valid.query !== undefined && filter.name in valid.query
        const isBystander = name === 'other' || name === 'service'
        const strange = [world.rival, ...(isBystander && !isWhatItIsAbout ? [world.main] : [])]
        const ask = async (value: string) => {
          const request = { ...valid, query: { ...valid.query, [filter.name]: value } }
          const { text } = await send(operation, world.callers[name], request)
          return withoutReport(text)
        }
        const absent = await ask(await filter.valueIn(world.absentIn('harbour'), null))
        for (const party of strange) {
          const answer = await ask(await filter.valueIn(party.resources, party))
          expect(answer, `${name} by ${filter.name}`).toBe(absent)
        }
      }
    }
  })
})

describe('vaults', () => {
  it.for(ofVaults)(
    'T39 $operationId answers 404 to an absent vault, and 403 to a vault of others',
    async (operation) => {
      const askAs = async (caller: Caller) => {
        const answer = await send(operation, caller, await validRequest(operation, world.absentIn('no-such-vault')))
        expect(answer.status, `${caller.name}: ${answer.text}`).toBe(404)
      }
      // A directory is no caller of vaults, which refuse its token.
      const { outsider, service, directory: _, ...others } = world.callers
      const turn = ofVaults.indexOf(operation)
      await Promise.all([outsider, service, ...inTurn(Object.values(others), turn, 2)].map(askAs))
      for (const name of ['outsider', 'foreignAdmin', 'platform', 'foreignService'] as const) {
        expect(rowOf(operation.operationId).expected[name], name).toBe(403)
      }
    },
  )
})

describe('permission comes before validation', () => {
  const broken: Request = { query: { nonsense: '1' }, body: { nonsense: true } }

  it.for(guarded)(
    'T39 $operationId refuses callers without the right, also with a malformed request',
    async (operation) => {
      const { expected } = rowOf(operation.operationId)
      const { params } = await validRequest(operation, world.main.resources)
      const request = { ...broken, ...(params === undefined ? {} : { params }) }
      const anonymous = world.refused[0]!
      expect((await send(operation, anonymous, request)).status, 'anonymous').toBe(401)
      expect((await send(operation, anonymous, { ...request, body: '{"half' })).status, 'anonymous').toBe(401)
      // In other operations the rights depend on the resource that the request names, so the request must be parsed first.
      if (expected.outsider !== 403) return
      const strangers = ['outsider', 'foreignAdmin', 'platform', 'foreignService'] as const
      const ordinary = ['owner', 'grantee', 'other', 'approver', 'service'] as const
      const isForAdministrators = ordinary.every((name) => expected[name] === 403)
      const names = [...strangers, ...(isForAdministrators ? ordinary : [])].filter((name) => expected[name] === 403)
      for (const name of inTurn(names, guarded.indexOf(operation), 3)) {
        expect((await send(operation, world.callers[name], request)).status, name).toBe(403)
      }
    },
  )
})

describe('unknown input', () => {
  const ownerOnly = ['id', 'vaultId', 'ownerId', 'initiatorId', 'createdById', 'status', 'createdAt', 'isPlatformAdmin']
  // The webhook has no strict schema (contract 7.1): its sender may add fields.
  const strict = tested.filter(({ operationId }) => operationId !== 'receiveWalletEvent')
  const withBody = strict.filter(
    ({ operationId, bodyNames }) => bodyNames !== null && rowOf(operationId).isOpen !== true,
  )

  it.for(withBody)('T41 $operationId refuses fields that are not the caller’s to set', async (operation) => {
    const request = await validRequest(operation, world.main.resources)
    const unknown = [...ownerOnly, 'nonsense'].filter((field) => !operation.bodyNames!.includes(field))
    for (const field of inTurn(unknown, withBody.indexOf(operation), 3)) {
      const body = { ...(request.body as object), [field]: 'anything' }
      const answer = await send(operation, permittedCaller(operation), { ...request, body })
      expect(answer.status, `${field}: ${answer.text}`).toBe(400)
      expect(JSON.parse(answer.text).details[0].field).toBe(field)
    }
    for (const body of withNonsenseInside(request.body)) {
      const answer = await send(operation, permittedCaller(operation), { ...request, body })
      expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).toBe(400)
    }
  })

  it.for(strict)('T41 $operationId refuses unknown query parameters', async (operation) => {
    const request = await validRequest(operation, world.main.resources)
    const query = { ...request.query, nonsense: '1' }
    const answer = await send(operation, permittedCaller(operation), { ...request, query })
    expect(answer.status, answer.text).toBe(400)
    // Directories get a sentence.
    const { details, detail } = JSON.parse(answer.text)
    expect(details?.[0].field ?? detail.split(':')[0]).toBe('nonsense')
  })
})

describe('other people’s data', () => {
  const reads = guarded.filter(({ method }) => method === 'GET')
  const bystanders = [
    'other',
    'service',
    'userViewer',
    'groupViewer',
    'grantee',
    'approver',
    'foreignAdmin',
    'foreignService',
    'outsider',
  ] as const
  type Bystander = (typeof bystanders)[number]

  it('T40 the answers to bystanders, counts and cursors included, stay the same when another member acts', async () => {
    const requests = await Promise.all(reads.map((operation) => standingRequests(operation)))
    // One member reads everything: each width alone, and each file. The others, who read all widths in one request, take turns:
    // two or three of them read each operation. A caller with 403 is refused before the query is read, as a test above shows, and needs
    // one request only.
    const requestsOf = (name: Bystander, index: number) => {
      const isTheirTurn = isWhole || name === 'other' || (index + bystanders.indexOf(name)) % 3 === 0
      if (!isTheirTurn) return []
      const { usual, narrow, wide, widest, file } = requests[index]!
      if (rowOf(reads[index]!.operationId).expected[name] === 403) return [usual]
      return [usual, ...narrow, ...(isWhole || name === 'other' ? wide : widest), ...file]
    }
    const readAll = async () => {
      const answers: Record<string, string> = {}
      const readAs = async (name: Bystander, index: number, request: Request) => {
        const operation = reads[index]!
        const { text, status } = await send(operation, world.callers[name], request)
        // Refused for lack of capacity, regardless of the request.
        expect([429, 503], `${operation.operationId} ${text}`).not.toContain(status)
        if (isToldOf(operation, name)) return
        answers[`${operation.operationId} ${name} ${JSON.stringify(request.query)}`] = withoutReport(text)
      }
      for (const index of reads.keys()) {
        // Few files are made at a time, and the others are refused until later.
        const isOfFile = ({ query }: Request) => query?.format !== undefined
        const files = (name: Bystander) => requestsOf(name, index).filter(isOfFile)
        const others = (name: Bystander) => requestsOf(name, index).filter((request) => !isOfFile(request))
        await Promise.all(bystanders.flatMap((name) => others(name).map((request) => readAs(name, index, request))))
        for (const name of bystanders) for (const request of files(name)) await readAs(name, index, request)
      }
      return answers
    }
    // Both requests use the same clock, because some answers contain the time.
    const { clock } = test.deps
    const aMinuteLater = new Date(clock().getTime() + 60_000)
    const readThen = async () => {
      test.deps.clock = () => aMinuteLater
      return readAll().finally(() => {
        test.deps.clock = clock
      })
    }
    const before = await readThen()
    await world.main.actAsOwner()
    expect(await readThen()).toEqual(before)
  })

  /**
   * Returns true if the answer may change: the owner's order waits for the approver, and each answer has another cursor
   * of changes.
   */
  function isToldOf({ operationId }: Operation, name: string): boolean {
    return operationId === 'listChanges' || (name === 'approver' && /^(list|count)Inbox$/.test(operationId))
  }

  /** Returns variants of the same request; `widest` has all wide parameters in one request. */
  async function standingRequests(operation: Operation) {
    const usual = await validRequest(operation, world.main.resources)
    const withQuery = (more: Record<string, string>): Request => ({ ...usual, query: { ...usual.query, ...more } })
    const isNew = ([name]: [string, string]) => operation.queryNames.includes(name) && !(name in (usual.query ?? {}))
    const wide = Object.entries({ includeShared: 'true', access: 'all', summary: 'true' }).filter(isNew)
    const narrow = Object.entries({ limit: '1', search: 'harbour' }).filter(isNew)
    const alone = (values: [string, string][]) => values.map(([name, value]) => withQuery({ [name]: value }))
    return {
      usual,
      narrow: alone(narrow),
      wide: alone(wide),
      widest: wide.length < 2 ? alone(wide) : [withQuery(Object.fromEntries(wide))],
      file: isNew(['format', 'csv']) ? [withQuery({ format: 'csv' })] : [],
    }
  }
})

describe('the end of access', () => {
  const reads = guarded.filter(({ method }) => method === 'GET')
  let turn = 0
  const nodes = () =>
    [
      ['this node', test.app],
      ['another node', secondNode.app],
    ] as const

  it('T47 removing a membership ends access on the next request, on every node', async () => {
    const { vault, people, join } = world.main
    const leaver = await join('leaver', 'administrators')
    const caller = toCaller('leaver', leaver)
    for (const [node, app] of nodes()) expect(await refusalsOf(app, caller, 'admin'), node).toEqual([])
    const removed = await people.admin.delete(`/policy-groups/${vault.groups.administrators}/members/${leaver.userId}`)
    expect(removed.status).toBe(204)
    for (const [node, app] of nodes()) expect(await refusalsOf(app, caller, 'outsider'), node).toEqual([])
  })

  it('T47 a person who leaves the administrators keeps the rights of a member only', async () => {
    const { vault, people, join } = world.main
    const demoted = await join('demoted', 'members', 'administrators')
    const caller = toCaller('demoted', demoted)
    expect(await refusalsOf(secondNode.app, caller, 'admin')).toEqual([])
    await people.admin.delete(`/policy-groups/${vault.groups.administrators}/members/${demoted.userId}`)
    for (const [node, app] of nodes()) expect(await refusalsOf(app, caller, 'other'), node).toEqual([])
  })

  it('T47 a revoked or ended session, a disabled user and a revoked service token are refused by every read, on every node', async () => {
    const email = world.main.people.admin.email
    const now = test.clock.now()
    const ends: Record<string, () => Promise<Caller>> = {
      revoked: async () => {
        const person = await test.signIn(email)
        const { items } = (await person.get('/auth/sessions?limit=1')).body
        expect((await world.main.people.admin.delete(`/auth/sessions/${items[0]!.id}`)).status).toBe(204)
        return toCaller('revoked', person)
      },
      'signed out': async () => {
        const person = await test.signIn(email)
        expect((await person.post('/auth/sign-out')).status).toBe(204)
        return toCaller('signed out', person)
      },
      disabled: async () => {
        const person = await world.main.join('disabled-later', 'administrators')
        expect((await person.get('/vaults/harbour')).status).toBe(200)
        await test.deps.db.updateTable('users').set({ disabled_at: now }).where('id', '=', person.userId).execute()
        return toCaller('disabled', person)
      },
      'revoked service token': async () => {
        const groupIds = [world.main.vault.groups.administrators]
        const { people } = world.main
        const { body } = await people.admin.post('/vaults/harbour/service-tokens', { name: 'Brief', groupIds })
        const caller: Caller = { name: 'brief', headers: { authorization: `Bearer ${body.token}` }, email: null }
        expect(await refusalsOf(secondNode.app, caller, 'admin')).toEqual([])
        expect((await people.admin.delete(`/vaults/harbour/service-tokens/${body.id}`)).status).toBe(204)
        return caller
      },
    }
    for (const [how, end] of Object.entries(ends)) {
      const caller = await end()
      for (const [node, app] of nodes()) expect(await refusalsOf(app, caller, 'nobody'), `${how}, ${node}`).toEqual([])
    }
  })

  /**
   * Returns the callers whose answer differs from the table for `column`. It sends only reads, so that it can be
   * repeated.
   */
  async function refusalsOf(app: App, caller: Caller, column: 'nobody' | 'outsider' | 'other' | 'admin') {
    const faults: string[] = []
    // All reads are sent after the end. Power before it shows in a quarter of them, in the next quarter each time.
    if (column === 'admin') turn += 1
    const chosen = column === 'admin' ? inTurn(reads, turn, Math.ceil(reads.length / 4)) : reads
    const ask = async (operation: Operation) => {
      const answer = await send(operation, caller, await validRequest(operation, world.main.resources), app)
      const expected = rowOf(operation.operationId).expected[column]
      if (answer.status !== expected) faults.push(`${operation.operationId}: ${answer.status} instead of ${expected}`)
    }
    await Promise.all(chosen.map(ask))
    return faults
  }
})

const isReport = ({ path }: Operation) => path.includes('/reports/')

function rowOf(operationId: string): Row {
  return expectations[operationId]!
}

async function validRequest({ operationId, path }: Operation, resources: Resources): Promise<Request> {
  const { params, ...rest } = await rowOf(operationId).request(resources)
  return { ...rest, params: { ...params, ...(path.includes('{code}') ? { code: resources.code } : {}) } }
}

/** A caller who may use the operation according to the table; preferably the owner. */
function permittedCaller({ operationId, isPublic }: Operation): Caller {
  if (isPublic) return world.callers.outsider
  const { expected, isOfNobody } = rowOf(operationId)
  const name = (['owner', 'admin', 'approver', 'platform', 'directory'] as const).find((caller) =>
    isOfNobody === true ? expected[caller] === 404 : ![401, 403, 404].includes(expected[caller]),
  )
  if (name === undefined) throw new Error(`The table allows nobody ${operationId}`)
  return world.callers[name]
}

async function send({ method, path }: Operation, caller: Caller, request: Request, app = test.app) {
  const { params = {}, query = {}, body, image } = request
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? (name === 'code' ? 'harbour' : undefined)
    if (value === undefined) throw new Error(`${method} ${path} needs ${name}`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(query).toString()
  const url = search === '' ? filled : `${filled}?${search}`
  const reads = method === 'GET' || method === 'HEAD'
  const sends = (body ?? image) !== undefined && !reads
  const type = image === undefined || body !== undefined ? 'application/json' : 'image/png'
  const { result: response, statements } = await recorder.during(() =>
    app.inject({
      method: method as 'GET',
      url,
      // Sign-in links are limited by the address of the sender; here every request has another address.
      remoteAddress: `10.0.${Math.floor(fresh() / 250) % 250}.${fresh() % 250}`,
      headers: sends ? { 'content-type': type, ...caller.headers } : caller.headers,
      ...(sends
        ? { payload: body === undefined ? image! : typeof body === 'string' ? body : JSON.stringify(body) }
        : {}),
    }),
  )
  const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json')
  if (!reads && response.statusCode < 300) for (const party of [world.main, world.rival]) party.renew()
  // Each type of answer to a caller is validated once, because validating thousands of refusals takes longer than
  // requesting them.
  const kind = `${method} ${path} ${response.statusCode} ${caller.name}`
  if (isJson && method !== 'HEAD' && !checked.has(kind)) {
    check(method, filled, { status: response.statusCode, body: response.json(), headers: response.headers })
    checked.add(kind)
  }
  // The text of an archive is the text of its files. An answer to HEAD has no body.
  const isArchive = response.headers['content-type'] === mediaTypes.zip && response.rawPayload.length > 0
  const text = isArchive ? [...readArchive(response.rawPayload).values()].join('\n') : withoutRequestId(response)
  return { status: response.statusCode, text, statements }
}

async function withSessionOfItsOwn(caller: Caller): Promise<Caller> {
  return caller.email === null ? caller : toCaller(caller.name, await test.signIn(caller.email))
}

/** The update of the last use of a token or a session, which any request may write now and then. */
const noteOfUse = /^update "(sessions|service_tokens)" set "last_(seen|used)_at"/

/** The statements of the answer; as long as they are the same, its duration reveals nothing about what is hidden. */
function workOf({ statements }: Answer): string {
  const texts = statements.map(({ text }) => text)
  return texts.filter((text) => !noteOfUse.test(text)).join('\n;\n')
}

/** The strings in the answer that the caller may not read and did not send. */
function leaksOf(operation: Operation, caller: Caller, request: Request, { text }: Answer): string[] {
  const { namesVaults = false, namesPeople = false, expected } = rowOf(operation.operationId)
  const isReported = expected[caller.name as keyof typeof expected] === 200
  const visible = [world.main, world.rival].flatMap(({ vault, people }) => [
    ...(namesVaults && isReported ? [vault.id, vault.code] : []),
    ...(namesPeople && isReported ? Object.values(people).map(nameOf) : []),
  ])
  const sent = JSON.stringify(request)
  return world
    .secretsIn(text, caller.name)
    .filter((secret) => !sent.includes(secret) && !visible.includes(secret))
    .map((secret) => `${caller.name} reads ${secret} in ${text.slice(0, 500)}`)
}

/** Returns true if the request of the row names a resource besides the vault. */
function refersToSomething({ operationId }: Operation): boolean {
  let refers = false
  const witness = new Proxy({} as Resources, {
    get: (_, name) => {
      refers ||= name !== 'code'
      return async () => ({})
    },
  })
  void rowOf(operationId).request(witness)
  return refers
}

/** Copies of the body, each with an unknown field in one of its nested objects. */
function withNonsenseInside(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    const broken = [...(isObject ? [{ ...inner, nonsense: 'anything' }] : []), ...withNonsenseInside(inner)]
    return broken.map((changed) =>
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed },
    )
  })
}

/** Removes what differs between two reports: the time of creation, the parameters and the id. */
function withoutReport(text: string): string {
  if (text.startsWith('\uFEFF')) return text.replace(/^Report,.*$/m, 'Report')
  return text.replace(/"report":\{[^}]*\}/, '"report":{}').replace(/"drilldownFilters":\{[^}]*\}/g, '')
}

function withoutIds(text: string): string {
  return text.replace(/c[0-9a-z]{24}|(policy|group)-\d+/g, 'id').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

type Filter = { name: string; valueIn(resources: Resources, party: World['rival'] | null): Promise<string> }

/** The query parameters that name a resource of a vault; `tokenId` is of the registry, which all vaults share. */
function filtersOf(queryNames: string[]): Filter[] {
  const ownerOf: Filter['valueIn'] = async (resources, party) => party?.people.owner.userId ?? resources.address()
  const known: Record<string, Filter['valueIn']> = {
    addressId: (resources) => resources.address(),
    subjectId: (resources) => resources.address(),
    decisionPolicyId: (resources) => resources.policy(),
    approvalPolicyId: (resources) => resources.policy(),
    userId: ownerOf,
    actor: ownerOf,
    initiatorId: ownerOf,
    counterpartyId: (resources) => resources.counterparty(),
    counterpartyGroupId: (resources) => resources.counterpartyGroup(),
    counterpartyAddressId: async (resources) => (await resources.counterpartyAddress()).addressId,
    groupId: (resources) => resources.counterpartyGroup(),
    sourceOperationId: (resources) => resources.deposit(),
    targetOperationId: (resources) => resources.transfer(),
    folderId: (resources) => resources.folder(),
    target: (resources) => resources.transfer(),
    category: (resources) => resources.categoryKey(),
    categoryKey: (resources) => resources.categoryKey(),
  }
  // Reports accept lists where other operations accept one value.
  known.ownAddressId = known.addressId!
  known.feePayerId = known.addressId!
  known.categories = known.category!
  return queryNames.flatMap((name) => {
    const valueIn = known[name] ?? known[name.replace(/s$/, '')]
    return valueIn === undefined ? [] : [{ name, valueIn }]
  })
}

function operationsOf(app: App): Operation[] {
  type Schema = { $ref?: string; properties?: object }
  type Documented = {
    operationId: string
    security?: unknown[]
    parameters?: { in: string; name: string }[]
    requestBody?: { content: { 'application/json'?: { schema: Schema } } }
  }
  const document = describedApiOf(app) as unknown as {
    paths: Record<string, Record<string, Documented>>
    components: { schemas: Record<string, Schema> }
  }
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!)
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, parameters = [], requestBody }]) => ({
      operationId,
      method: method.toUpperCase(),
      path,
      isPublic: security === undefined,
      queryNames: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      bodyNames:
        requestBody?.content['application/json'] === undefined
          ? null
          : Object.keys(resolve(requestBody.content['application/json'].schema).properties ?? {}),
    })),
  )
}
