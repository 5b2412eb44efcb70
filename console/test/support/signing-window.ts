import { createPrivateKey } from 'node:crypto'
import type { Page } from 'playwright-core'
import { addAuthenticator } from '../../../tests/setup/signing-window.ts'
import type { Keeper, Stack } from './stack.ts'

/** The window of the wallet service that a click opens, with the signing key of a person in it. */
export async function windowOf(stack: Stack, page: Page, name: Keeper, click: () => Promise<void>): Promise<Page> {
  const opening = page.waitForEvent('popup')
  await click()
  const popup = await opening
  const { id, privateKey } = stack.signingKeyOf(name)
  const key = createPrivateKey({ key: privateKey, format: 'jwk' }).export({ format: 'der', type: 'pkcs8' })
  const credential = {
    credentialId: Buffer.from(id, 'base64url').toString('base64'),
    isResidentCredential: true,
    rpId: 'sign.localhost',
    privateKey: key.toString('base64'),
    userHandle: Buffer.from(name).toString('base64'),
    signCount: 0,
  }
  await addAuthenticator(popup, [credential])
  return popup
}
