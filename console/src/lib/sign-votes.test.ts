import { canonicalJson } from '@strongroom/sdk/signing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

beforeAll(() => {
  vi.stubGlobal('window', { location: { origin: 'http://localhost', pathname: '/', search: '' } })
  vi.stubGlobal('location', { origin: 'http://localhost', hostname: 'localhost' })
  vi.stubGlobal('document', { documentElement: {}, cookie: '' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} })
  vi.stubGlobal('fetch', async () => Response.json({ user: { id: 'ben' } }))
})
afterAll(() => {
  vi.unstubAllGlobals()
})

it('T80 a vote on a request is signed only with the hash by which the service names it', async () => {
  const get = vi.spyOn(navigatorCredentials(), 'get')
  const { signShown } = await import('./sign-votes.ts')
  const boundPayload = { requestId: 'r-1', vaultId: 'vault-1', action: 'x', steps: [{ amount: '1' }] }
  const expected = { authority: null, document: canonicalJson(boundPayload) }
  const waiting = { kind: 'approval_request', boundPayload, expected } as const
  const hash = await sha256(expected.document)
  await expect(signShown('main', waiting, 'ab'.repeat(32), 'approve')).rejects.toMatchObject({
    message: 'What is shown is not what would be signed.',
    cause: { message: expect.stringContaining('payloadHash is of another document') },
  })
  expect(get).not.toHaveBeenCalled()
  await expect(signShown('main', waiting, hash, 'approve')).rejects.toThrow('the passkey was asked')
})

function navigatorCredentials() {
  const credentials = {
    get: async (): Promise<never> => {
      throw new Error('the passkey was asked')
    },
  }
  vi.stubGlobal('navigator', { languages: ['en'], credentials })
  return credentials
}

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')
}
