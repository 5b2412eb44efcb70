// What people sign at the wallet's own origin. It believes nothing that it is handed: an order is taken apart into the fields
// that it shows, and what is signed is computed from those. Only `textContent` is ever written.
const { origin, console: consoleOrigin, rpId } = document.documentElement.dataset
const main = document.getElementById('main')

const id = /^[A-Za-z0-9._:-]{1,128}$/
const address = /^0x[0-9a-fA-F]{40}$/
const digits = /^[1-9][0-9]{0,77}$/
const isWhole = (value) => Number.isSafeInteger(value) && value >= 0
const matching = (pattern) => (value) => typeof value === 'string' && pattern.test(value)
/** Each field of an order (docs/signed-orders.md): what it is called here, and its form. An order with another one is refused. */
const fields = {
  transferId: ['Transfer', matching(id)],
  vaultId: ['Vault', matching(id)],
  initiatorId: ['Ordered by', matching(id)],
  fromAddressId: ['Id of the sender’s address', matching(id)],
  fromAddress: ['Sender', matching(address)],
  network: ['Network', matching(/^[a-z0-9][a-z0-9-]{0,62}$/)],
  coinType: ['Coin type', isWhole],
  derivationPath: ['Derivation path', matching(/^m(\/[0-9]+)+$/)],
  toAddress: ['Recipient', matching(address)],
  tokenId: ['Id of the token', matching(id)],
  contractAddress: ['Contract of the token', (value) => value === null || matching(address)(value)],
  amount: ['Amount in the smallest unit', matching(digits)],
  feeLevel: ['Speed', matching(/^(low|medium|high)$/)],
  maxFee: ['Fee limit in the smallest unit', matching(digits)],
  rulesVersion: ['Version of the rules', isWhole],
  expiresAt: ['Expires', (value) => !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value],
}
const optional = ['feeLevel', 'maxFee']
const decisions = {
  initiate: ['Order this payment', 'Sign the order'],
  approve: ['Approve this payment', 'Sign the approval'],
  reject: ['Reject this payment', 'Sign the rejection'],
}

function start() {
  // The policy forbids frames, too: this is for browsers that do not obey it.
  if (window.top !== window.self) return refuse('This page does not work inside another page.')
  if (location.origin !== origin) return refuse(`This page works at ${origin} only.`)
  if (!('PublicKeyCredential' in window)) return refuse('This browser cannot use passkeys.')
  const fragment = location.hash.slice(1)
  // What was ordered is not for the history of the browser.
  history.replaceState(null, '', location.pathname)
  if (fragment === 'register') return showRegistration()
  if (fragment === '') return refuse('Nothing to sign: the console opens this page with an order.')
  try {
    return showOrder(readAsked(fragment))
  } catch (error) {
    return refuse(
      `This is no order that can be signed: ${error instanceof Fault ? error.message : 'it cannot be read'}.`,
    )
  }
}

class Fault extends Error {}

/** What somebody asks to have signed: the order, with no field but those that are shown, who signs, and what they decide. */
function readAsked(fragment) {
  const { order: given, decision, person, ...others } = JSON.parse(new TextDecoder().decode(toBytes(fragment)))
  const unknown = [...Object.keys(others), ...Object.keys(given).filter((name) => !Object.hasOwn(fields, name))]
  if (unknown.length > 0) throw new Fault('it has a field that this page does not know')
  if (!Object.hasOwn(decisions, decision) || !matching(id)(person)) throw new Fault('nobody decides')
  const order = {}
  for (const [name, [label, hasForm]] of Object.entries(fields)) {
    if (!Object.hasOwn(given, name) && optional.includes(name)) continue
    if (!hasForm(given[name])) throw new Fault(`${label} is missing or has another form`)
    order[name] = given[name]
  }
  if (decision === 'initiate' && person !== order.initiatorId) throw new Fault('somebody else orders it')
  return { order, decision, person }
}

async function showOrder({ order, decision, person }) {
  const hash = toHex(await sha256(canonical(order)))
  const [title, action] = decisions[decision]
  const said = element('dd')
  const amount = element('dd', { className: 'large', textContent: order.amount })
  const fee = element('dd', { textContent: feeOf(order) })
  const sign = element('button', { textContent: action })
  const close = element('button', { textContent: 'Cancel', onclick: () => window.close() })
  const note = element('p', { role: 'status' })
  const buttons = element('p', {}, sign, close)
  main.replaceChildren(
    element('h1', { textContent: title }),
    element('p', { textContent: 'Read it here, and compare it with what you mean to pay. Only this is signed.' }),
    element(
      'dl',
      {},
      ...['Amount', amount],
      ...named('Recipient', grouped(order.toAddress)),
      said,
      ...named('Sender', grouped(order.fromAddress)),
      ...named('Token', tokenOf(order)),
      ...['Fee limit', fee],
      ...named('Expires', `${new Date(order.expiresAt).toLocaleString()} (${order.expiresAt})`),
      ...named('Fingerprint of the order', grouped(hash)),
    ),
    everything(order, { decision, person }),
    note,
    buttons,
  )
  sign.disabled = true
  let authority
  sign.onclick = async () => {
    sign.disabled = true
    try {
      const about = { hash, decision, person, authority, signedAt: new Date().toISOString() }
      const signed = await signVote({ format: 'strongroom-vote-2', subject: 'transfer', ...about })
      buttons.remove()
      handBack(signed, note)
    } catch (error) {
      sign.disabled = false
      note.textContent = `Nothing was signed: ${error.message}`
    }
  }
  // The vote names the authority whose rules the person was shown.
  authority = await showRules(order, { said, amount, fee })
  if (Date.parse(order.expiresAt) <= Date.now())
    note.textContent = 'It has expired: the wallet service signs it no more.'
  else if (authority === null) note.textContent = 'Nothing can be signed until the wallet service has said it.'
  else sign.disabled = false
}

function tokenOf({ contractAddress, network }) {
  if (contractAddress === null) return `the coin of ${network}`
  return element('span', {}, `on ${network}, contract `, grouped(contractAddress))
}

function feeOf({ maxFee, network }, decimals) {
  if (maxFee === undefined) return 'none was set: it may be raised to five times what is usual'
  const exact = `${maxFee} in the smallest unit of the coin of ${network}`
  return decimals === undefined ? exact : `${decimal(maxFee, decimals)} of the coin of ${network} (${exact})`
}

/** Every field that is signed, as it is signed. */
function everything(order, vote) {
  const rows = Object.entries(order).flatMap(([name, value]) => named(fields[name][0], String(value)))
  const { decision, person } = vote
  const more = [...named('Decision', decision), ...named('You sign as', person)]
  const summary = element('summary', { textContent: 'Everything that is signed' })
  return element('details', {}, summary, element('dl', {}, ...rows, ...more))
}

/** What the authority of this wallet service says about it, whose hash is returned. What it cannot say is said, too. */
async function showRules(order, { said, amount, fee }) {
  const answer = await askRules(order)
  if (answer === null) {
    said.replaceChildren(warning('The wallet service did not say which of its rules applies to this order.'))
    return null
  }
  const { authority, isListed, rule, token, coinDecimals, version } = answer
  fee.textContent = feeOf(order, coinDecimals)
  if (token !== null) {
    const unit = token.symbol ?? (order.contractAddress === null ? `of the coin of ${order.network}` : 'of the token')
    amount.textContent = `${decimal(order.amount, token.decimals)} ${unit}`
    amount.after(element('dd', { textContent: `exactly ${order.amount} in the smallest unit` }))
  }
  const listed = isListed
    ? element('p', { textContent: 'The recipient is on the signed address list.' })
    : warning('The recipient is NOT on the signed address list: compare every character.')
  const lines =
    rule === null ? [warning('No rule permits this token: the wallet service will refuse it.')] : linesOf(rule)
  said.replaceChildren(listed, ...lines, element('p', { textContent: `By version ${version} of the authority.` }))
  return authority
}

function linesOf({ initiators, floors, perDay }) {
  // Two floors of one group are met by the same votes.
  const most = new Map()
  for (const { group, votes } of floors) most.set(group, Math.max(votes, most.get(group) ?? 0))
  const asked = [...most].map(([group, votes]) => `${votes} of ${group}`)
  const needed = asked.length === 0 ? 'no approvals' : `approvals by ${asked.join(' and ')}`
  const limit = perDay === null ? '' : ` Within 24 hours at most ${perDay} in the smallest unit.`
  return [element('p', { textContent: `It needs the order of one of ${initiators}, and ${needed}.${limit}` })]
}

async function askRules(order) {
  try {
    const body = JSON.stringify(order)
    const answer = await fetch('/sign/order', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return answer.ok ? await answer.json() : null
  } catch {
    return null
  }
}

async function signVote(vote) {
  const { rawId, response } = await navigator.credentials.get({
    publicKey: {
      rpId,
      challenge: await sha256(canonical(vote)),
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [],
    },
  })
  const { signature, authenticatorData, clientDataJSON } = response
  return {
    vote,
    keyId: toText(rawId),
    signature: toText(signature),
    authenticatorData: toText(authenticatorData),
    clientDataJSON: toText(clientDataJSON),
  }
}

/** To the window that opened this one, if it is a page of the console: the browser hands it to no other origin. */
function handBack(signed, note) {
  if (window.opener === null) {
    note.textContent = 'Signed. No console opened this page, so take the signed vote from here:'
    note.after(
      element('textarea', {
        readOnly: true,
        rows: 12,
        value: JSON.stringify(signed, null, 2),
        ariaLabel: 'Signed vote',
      }),
    )
    return
  }
  window.opener.postMessage({ type: 'strongroom-signed', signed }, consoleOrigin)
  note.textContent = `Signed. ${consoleOrigin} has it if it opened this page. You can close this window.`
  window.close()
}

function showRegistration() {
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
      showKey(await makeKey(name.value.trim(), person.value.trim()))
    } catch (error) {
      note.textContent = `No passkey was made: ${error.message}`
    }
  }
  main.replaceChildren(
    element('h1', { textContent: 'Make a passkey for this wallet service' }),
    element('p', { textContent: `It works at ${origin} only. It counts once the authority of a vault names it.` }),
    form,
  )
}

async function makeKey(name, person) {
  const { rawId, response } = await navigator.credentials.create({
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
  })
  const spki = response.getPublicKey()
  if (spki === null) throw new Error('this browser does not show the public key')
  return { id: toText(rawId), person, name, kind: 'passkey', publicKey: toText(spki), rpId, origins: [origin] }
}

async function showKey(key) {
  const fingerprint = toHex(await sha256(toBytes(key.publicKey)))
  main.replaceChildren(
    element('h1', { textContent: 'Your passkey' }),
    element('p', {
      textContent: 'Give this to who writes the authority, and compare the fingerprint in the ceremony on two screens.',
    }),
    element(
      'dl',
      {},
      ...named('Fingerprint of the key', grouped(fingerprint)),
      ...named('Public key', element('code', { textContent: key.publicKey })),
      ...named('RP ID and origin', `${key.rpId}, ${key.origins.join(', ')}`),
      ...named(
        'Its entry in the authority',
        element('textarea', { readOnly: true, rows: 12, value: JSON.stringify(key, null, 2), ariaLabel: 'Entry' }),
      ),
    ),
  )
}

function refuse(text) {
  main.replaceChildren(element('h1', { textContent: 'Nothing is signed' }), element('p', { textContent: text }))
}

const warning = (textContent) => element('p', { className: 'warn', textContent })
const named = (term, content) => [term, element('dd', {}, content)]

/** Texts among the children of a list of facts are its terms; elsewhere they are texts. */
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  const isTerm = (child) => tag === 'dl' && typeof child === 'string'
  made.append(...children.map((child) => (isTerm(child) ? element('dt', { textContent: child }) : child)))
  return made
}

/** In groups of four, as people compare it; copied, it has no gaps. */
function grouped(text) {
  const groups = text.match(/0x|.{1,4}/g) ?? []
  return element('code', {}, ...groups.map((textContent) => element('span', { textContent })))
}

/** A whole number of smallest units, exactly. */
function decimal(raw, decimals) {
  const padded = raw.padStart(decimals + 1, '0')
  const whole = padded.slice(0, padded.length - decimals)
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** RFC 8785, of what orders and votes consist of: one level of texts, whole numbers and null. */
function canonical(document) {
  const members = Object.keys(document).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${JSON.stringify(document[name])}`).join(',')}}`
}

async function sha256(content) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

function toBytes(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(bytes) {
  const binary = String.fromCharCode(...new Uint8Array(bytes))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

// The same window may be handed another order.
addEventListener('hashchange', () => location.reload())
start()
