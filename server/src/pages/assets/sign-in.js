// Sends the requests of the sign-in pages. The session itself is an httpOnly cookie that no script sees.
const status = document.getElementById('status')

function show(text, isBad = false) {
  status.textContent = text
  status.classList.toggle('bad', isBad)
  status.hidden = false
}

/** Posts JSON while the button is disabled. Returns the answer; after a failure shows its message and returns null. */
async function post(button, path, body) {
  button.disabled = true
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (response.ok) return response.status === 204 ? {} : await response.json()
    const error = await response.json().catch(() => ({}))
    show(error.message ?? 'That did not work. Try again.', true)
  } catch {
    show('The service cannot be reached. Try again.', true)
  }
  button.disabled = false
  return null
}

const form = document.getElementById('request-link')
const providers = document.getElementById('providers')

/** Shows the providers of the domain of an address, whether or not it belongs to a person. Returns false without a provider. */
async function showProviders(email) {
  const response = await fetch(`/api/v1/auth/providers?email=${encodeURIComponent(email)}`).catch(() => null)
  const found = response?.ok ? (await response.json()).providers : []
  providers.replaceChildren(
    ...found.map(({ name, startUri }) => {
      const link = document.createElement('a')
      link.className = 'button'
      link.textContent = `Continue with ${name}`
      const query = new URLSearchParams({ email })
      if (form.dataset.redirect) query.set('redirectTo', form.dataset.redirect)
      link.href = `${startUri}?${query}`
      return link
    }),
  )
  providers.hidden = found.length === 0
  // No link is mailed to people of a domain whose provider is enforced.
  form.querySelector('button').hidden = found.some(({ enforce }) => enforce)
  return found.length > 0
}

/** The address for which the form was sent before. The second time, the form requests a link. */
let shownFor = null
form?.elements.email.addEventListener('input', () => {
  form.querySelector('button').hidden = false
})
form?.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')
  const { redirect, invitation } = form.dataset
  const address = form.elements.email.value.trim()
  if (providers !== null && (shownFor !== address || button.hidden)) {
    shownFor = address
    if (await showProviders(address)) {
      button.textContent = 'E-mail me a sign-in link instead'
      button.classList.add('plain')
      providers.querySelector('a').focus()
      return
    }
  }
  const sent = await post(button, '/api/v1/auth/magic-link', {
    email: address,
    ...(redirect ? { redirectTo: redirect } : {}),
    ...(invitation ? { invitationToken: invitation } : {}),
  })
  if (sent === null) return
  show(
    'If this address may sign in, a link is on its way. Open it in this browser within 10 minutes. In another browser, ' +
      'enter the code from the mail.',
  )
  button.disabled = false
})

const signOut = document.getElementById('sign-out')
signOut?.addEventListener('click', async () => {
  if ((await post(signOut, '/api/v1/auth/sign-out')) !== null) location.replace('/sign-in')
})

const toText = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/**
 * Returns the challenge that the passkey signs: a document that this page makes. Whatever nonce the service sends, the document is
 * neither a vote nor another ceremony (docs/signed-orders.md). Its members are strings in the order of their names, so that this is
 * its canonical form.
 */
function challengeOf(nonce) {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(nonce)) throw new TypeError('The nonce is not base64url')
  const text = JSON.stringify({
    format: 'strongroom-challenge-1',
    nonce,
    origin: location.origin,
    purpose: 'sign-in',
  })
  return crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
}

const usePasskey = document.getElementById('use-passkey')
// Without WebAuthn, or on a page that is not secure, a person can use only the link.
if (usePasskey !== null && 'PublicKeyCredential' in window) usePasskey.hidden = false
usePasskey?.addEventListener('click', async () => {
  const options = await post(usePasskey, '/api/v1/auth/passkey/options')
  if (options === null) return
  try {
    const { nonce, timeout } = options
    const challenge = await challengeOf(nonce)
    const { rawId, response } = await navigator.credentials.get({
      publicKey: { rpId: location.hostname, challenge, timeout, userVerification: 'required', allowCredentials: [] },
    })
    const signedIn = await post(usePasskey, '/api/v1/auth/passkey', {
      credential: {
        id: toText(rawId),
        nonce,
        clientDataJSON: toText(response.clientDataJSON),
        authenticatorData: toText(response.authenticatorData),
        signature: toText(response.signature),
      },
    })
    if (signedIn !== null) location.replace(form?.dataset.redirect || '/')
  } catch {
    show('No passkey was used. Try again, or ask for a link by e-mail.', true)
    usePasskey.disabled = false
  }
})
