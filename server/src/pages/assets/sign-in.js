// Sends what the sign-in pages ask for. The session itself is an httpOnly cookie that no script sees.
const status = document.getElementById('status')

function show(text, isBad = false) {
  status.textContent = text
  status.classList.toggle('bad', isBad)
  status.hidden = false
}

/** Posts JSON while the button is disabled; true when the service agreed, otherwise its message is shown. */
async function post(button, path, body) {
  button.disabled = true
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.ok) return true
    const error = await response.json().catch(() => ({}))
    show(error.message ?? 'That did not work. Try again.', true)
  } catch {
    show('The service cannot be reached. Try again.', true)
  }
  button.disabled = false
  return false
}

const form = document.getElementById('request-link')
form?.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')
  const { redirect, invitation } = form.dataset
  const sent = await post(button, '/api/v1/auth/magic-link', {
    email: form.elements.email.value.trim(),
    ...(redirect ? { redirectTo: redirect } : {}),
    ...(invitation ? { invitationToken: invitation } : {}),
  })
  if (!sent) return
  show(
    'If this address may sign in, a link is on its way. Open it in this browser within 10 minutes. In another browser, ' +
      'enter the code from the mail.',
  )
  button.disabled = false
})

const signOut = document.getElementById('sign-out')
signOut?.addEventListener('click', async () => {
  if (await post(signOut, '/api/v1/auth/sign-out', {})) location.replace('/sign-in')
})
