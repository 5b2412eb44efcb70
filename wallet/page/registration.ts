import { toBase64url } from '../../sdk/src/signing/signing.ts'
import { fromBase64url, sha256Hex } from './bytes.ts'
import { element, fact, grouped, main, paragraph } from './elements.ts'
import { origin, rpId } from './place.ts'

/** The form by which a person makes a signing key of this host. */
export function showRegistration(): void {
  const name = element('input', { required: true, maxLength: 100, autocomplete: 'name' })
  const person = element('input', { maxLength: 128, spellcheck: false })
  const note = element('p', { role: 'status' })
  const form = element(
    'form',
    {},
    element('label', {}, 'Name of the passkey, such as yours and the device’s', name),
    element('label', {}, 'Your user id in the console, if you know it', person),
    element('button', { textContent: 'Make a passkey' }),
    note,
  )
  form.onsubmit = async (event) => {
    event.preventDefault()
    try {
      await showKey(await makeKey(name.value.trim(), person.value.trim()))
    } catch (error) {
      note.textContent = `No passkey was made: ${(error as Error).message}`
    }
  }
  main.replaceChildren(
    element('h1', { textContent: 'Make a passkey for this wallet service' }),
    paragraph(`It works at ${origin} only. It counts once the authority of a vault names it.`),
    form,
  )
}

async function makeKey(name: string, person: string) {
  const credential = (await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: rpId },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      // Nobody checks an attestation, so its challenge says nothing: people compare the fingerprint.
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [-7, -8].map((alg) => ({ type: 'public-key', alg })),
      timeout: 300_000,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    },
  })) as PublicKeyCredential
  const spki = (credential.response as AuthenticatorAttestationResponse).getPublicKey()
  if (spki === null) throw new Error('this browser does not show the public key')
  const id = toBase64url(credential.rawId)
  return { id, person, name, kind: 'passkey', publicKey: toBase64url(spki), rpId, origins: [origin] }
}

async function showKey(key: Awaited<ReturnType<typeof makeKey>>): Promise<void> {
  const fingerprint = await sha256Hex(fromBase64url(key.publicKey))
  const value = JSON.stringify(key, null, 2)
  main.replaceChildren(
    element('h1', { textContent: 'Your passkey' }),
    paragraph('Give this to who writes the authority, and compare the fingerprint in the ceremony on two screens.'),
    element(
      'dl',
      {},
      ...fact('Fingerprint of the key', grouped(fingerprint)),
      ...fact('Public key', element('code', { textContent: key.publicKey })),
      ...fact('RP ID and origin', `${key.rpId}, ${key.origins.join(', ')}`),
      ...fact(
        'Its entry in the authority',
        element('textarea', { readOnly: true, rows: 12, value, ariaLabel: 'Entry' }),
      ),
    ),
  )
}
