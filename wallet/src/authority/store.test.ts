import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { authority, follow, team } from '../testing/signing.ts'
import { hashOf } from './canonical.ts'
import { AuthorityStore } from './store.ts'

const clientId = '00000000-0000-4000-8000-000000000001'
const inForceAt = Date.now() + 3_600_000
const next = follow({ ...authority, delayHours: 24 }, {}, [team.dora, team.emil])
const hash = hashOf(next.authority)

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'store-'))
  const store = new AuthorityStore(directory)
  await store.pin(clientId, { ...authority, delayHours: 24 })
  await store.append(clientId, { ...next, inForceAt: new Date(inForceAt).toISOString() })
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterEach(() => void vi.restoreAllMocks())

test('T81 the version in force and the version that waits are read at the same instant', async () => {
  const store = new AuthorityStore(directory)
  expect(await store.readShown(clientId)).toMatchObject({ version: 1, pending: { version: 2, hash } })
  const clock = vi
    .spyOn(Date, 'now')
    .mockReturnValueOnce(inForceAt - 1)
    .mockReturnValue(inForceAt)
  expect(await store.readShown(clientId)).toMatchObject({ version: 1, pending: { version: 2 } })
  expect(clock).toHaveBeenCalledTimes(1)
  expect(await store.readShown(clientId)).toMatchObject({ version: 2, pending: null })
})

test('T81 a cancellation at the instant at which the version comes into force does not remove it', async () => {
  const cancelled = { hash, votes: [], at: new Date(inForceAt).toISOString() }
  vi.spyOn(Date, 'now').mockReturnValue(inForceAt)
  expect(await new AuthorityStore(directory).cancel(clientId, cancelled)).toBe(false)
  expect(await new AuthorityStore(directory).read(clientId)).toMatchObject({ version: 2 })
  vi.spyOn(Date, 'now').mockReturnValue(inForceAt - 1)
  expect(await new AuthorityStore(directory).cancel(clientId, cancelled)).toBe(true)
  expect(await new AuthorityStore(directory).readShown(clientId)).toMatchObject({ version: 1, pending: null })
})
