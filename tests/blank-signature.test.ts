import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createStrongroom, type Strongroom } from '@strongroom/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newPasskey, SoftwarePasskey, type StoredPasskey } from '../demo/src/software-passkey.ts'
import { createTestApp, type Person, type TestApp } from '../server/src/testing/app.ts'
import { challengeIn, lies, lyingAbout, type Signature, votesSignedBy, wantedVotes } from './setup/blank-signature.ts'
import { freePort } from './setup/free-port.ts'
import { type LyingService, startLyingService } from './setup/lying-service.ts'

const program = new URL('../demo/dist/sign.js', import.meta.url).pathname

let test: TestApp
let service: LyingService
let origin: string
let person: Person
let key: SoftwarePasskey
const stored: StoredPasskey = newPasskey()

beforeAll(async () => {
  const ports = [await freePort(), await freePort()] as const
  origin = `http://localhost:${ports[1]}`
  test = await createTestApp({ PUBLIC_URL: origin })
  await test.app.listen({ port: ports[0], host: '127.0.0.1' })
  service = await startLyingService(`http://127.0.0.1:${ports[0]}`, ports[1])
  person = await test.signIn('anna@example.org')
  key = new SoftwarePasskey(origin, stored)
  const { creation } = await strongroom().me.preparePasskey()
  await strongroom().me.addPasskey({ name: 'Phone', credential: await key.register(creation) })
})
afterAll(async () => {
  await service?.close()
  await test?.close()
})
afterEach(() => {
  service.lie = null
})

/** Returns a client as the README of the SDK describes it, with the tested passkey. */
const strongroom = (): Strongroom => {
  const client: Strongroom = createStrongroom({
    baseUrl: service.url,
    token: person.token,
    confirm: async (call) => key.confirm(call, await client.me.prepareConfirmation(call as never)),
  })
  return client
}

async function signInBySdk() {
  let cookie = ''
  const fetchWithCookie = async (request: Request, init: RequestInit) => {
    if (cookie !== '') request.headers.set('cookie', cookie)
    const response = await fetch(request, init)
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    return response
  }
  const { auth } = createStrongroom({ baseUrl: service.url, fetch: fetchWithCookie })
  return auth.signInWithPasskey({ credential: await key.signIn(await auth.preparePasskeySignIn()) })
}

async function addAnother() {
  const { creation, confirmation } = await strongroom().me.preparePasskey()
  const credential = await new SoftwarePasskey(origin).register(creation)
  return strongroom().me.addPasskey({ name: 'Key', credential, confirmation: await key.acceptPasskey(confirmation!) })
}

/** Deletes the passkey of somebody else: the call is confirmed, but changes nothing. */
const confirmBySdk = () => strongroom().me.removePasskey('cmi8h2k1p0a1b2c3d4e5f6g7h')

const purposes = [
  ['a sign-in', signInBySdk, 'invalid_passkey'],
  ['a passkey that is added', addAnother, 'passkey_required'],
  ['a confirmation', confirmBySdk, 'passkey_required'],
] as const

/** Returns every signature of the key that the service has received. */
function signaturesReceived(): Signature[] {
  return service.received.flatMap(({ body, headers }) => {
    const header = headers['passkey-assertion']
    const confirmed = header === undefined ? [] : [JSON.parse(Buffer.from(String(header), 'base64url').toString())]
    return [...confirmed, body?.credential, body?.confirmation].filter(
      (candidate) => candidate?.signature !== undefined,
    )
  })
}

const nothingVerifies = (signatures: Signature[], nonce: string) => {
  const publicKey = key.publicKey.toString('base64url')
  for (const signature of signatures) {
    expect(challengeIn(signature)).not.toBe(nonce)
    expect(votesSignedBy(signature, publicKey, person.userId, origin)).toEqual([])
  }
}

describe('T79 a service that was taken over, and the SDK', () => {
  it('T79 the wallet service accepts the votes that a passkey signed', () => {
    const publicKey = key.publicKey.toString('base64url')
    for (const vote of wantedVotes(person.userId)) {
      const { vote: _, keyId: id, ...rest } = key.vote(vote as never)
      expect(votesSignedBy({ id, ...rest }, publicKey, person.userId, origin)).toEqual([vote])
    }
  })

  it('T79 an honest service accepts the signature of each purpose', async () => {
    expect((await signInBySdk()).user.id).toBe(person.userId)
    expect((await addAnother()).value!.name).toBe('Key')
    await expect(confirmBySdk()).rejects.toMatchObject({ status: 404 })
  })

  it.each(purposes)('T79 gets no vote from %s, whatever it answers as nonce', async (_what, sign, reason) => {
    for (const nonce of lies(person.userId)) {
      service.received.length = 0
      service.lie = lyingAbout(nonce)
      await expect(sign()).rejects.toMatchObject({ reason })
      const signatures = signaturesReceived()
      expect(signatures.length).toBeGreaterThan(0)
      nothingVerifies(signatures, nonce)
    }
  })

  it.each(purposes)('T79 gets no signature at all from %s for the text of a vote', async (_what, sign) => {
    for (const nonce of [JSON.stringify(wantedVotes(person.userId)[0]), '', 7, null, { format: 'strongroom-vote-2' }]) {
      service.received.length = 0
      service.lie = lyingAbout(nonce as string)
      await expect(sign()).rejects.toMatchObject({ name: 'SigningError', field: 'nonce' })
      expect(signaturesReceived()).toEqual([])
    }
  })
})

describe('T79 a service that was taken over, and the signing tool of the demo', () => {
  let dataDir: string
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'strongroom-blank-'))
    await mkdir(join(dataDir, 'reserve'))
    const reserve = {
      ...{ baseUrl: service.url, origin, walletUrl: 'http://127.0.0.1:8421', addressId: 'address' },
      userIds: { anna: person.userId },
    }
    await writeFile(join(dataDir, 'reserve/reserve.json'), JSON.stringify(reserve))
    await writeFile(join(dataDir, 'reserve/anna.passkey.json'), JSON.stringify(stored))
    await writeFile(join(dataDir, 'reserve/anna.signing-key.json'), JSON.stringify(newPasskey()))
  })
  afterAll(() => rm(dataDir, { recursive: true }))

  const order = () =>
    promisify(execFile)(process.execPath, [program, 'order', 'anna', '0.5', `0x${'ab'.repeat(20)}`], {
      env: { ...process.env, DATA_DIR: dataDir },
    }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    )

  it('T79 gets no vote from the sign-in of the tool', async () => {
    for (const nonce of lies(person.userId).slice(0, 3)) {
      service.received.length = 0
      service.lie = lyingAbout(nonce)
      expect(await order()).toBe('refused: 401 invalid_passkey\n')
      const signatures = signaturesReceived()
      expect(signatures).toHaveLength(1)
      nothingVerifies(signatures, nonce)
    }
  })

  it('T79 the tool signs in at an honest service, which does not know the vault', async () => {
    service.received.length = 0
    expect(await order()).toBe('refused: 404 not_found\n')
    expect(signaturesReceived()).toHaveLength(1)
  })
})
