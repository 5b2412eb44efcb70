// The names of resources and methods, derived from paths and operationIds. Where the derivation yields no good name,
// the tables of this file give one. An operation outside of the tables gets a derived name.

/** Collections below /api/v1 whose objects belong to a vault. `vault(code)` has them, too. */
const collectionsOfVaults = new Set(['policy-groups', 'policies', 'invitations'])

/** Resources whose name is not the first segment of their path. */
const resourceOfPath = new Map([
  ['/api/v1/users/me', 'me'],
  ['/api/v1/users/me/preferences', 'me'],
  ['/api/v1/users/me/image', 'me'],
  ['/api/v1/users/me/passkeys', 'me'],
  ['/api/v1/users/me/passkeys/options', 'me'],
  ['/api/v1/users/me/passkeys/confirmation', 'me'],
  ['/api/v1/users/me/passkeys/{id}', 'me'],
  ['/api/v1/users/me/identities', 'me'],
  // '' is the vault itself.
  ['/api/v1/vaults/{code}/image', ''],
])
const resourceOfOperation = new Map([['createPolicy', 'policies']])

/** Nouns that operationIds use for a resource in addition to its name. */
const nounsOfResource = {
  breakGlassPeople: ['BreakGlassPerson'],
  auditLog: ['AuditRecords', 'PlatformAuditRecords'],
  me: ['MyProfile', 'OwnProfile', 'MyMembership', 'My', 'Me'],
  operationCategories: ['Category'],
  operations: ['OfOperation'],
}

/**
 * The SDK has no method for the wallet's webhook. It is signed over the bytes of its body, and a method would make
 * other bytes; use `signWebhook`.
 */
const left = new Set(['receiveWalletEvent'])

/**
 * @param {string} path
 * @param {{ operationId: string }} operation
 * @returns {{ isOfVault: boolean, resource: string, method: string } | null} `resource` is '' for the vault itself;
 * null if the SDK has no method for the operation
 */
export function nameOf(path, { operationId }) {
  if (left.has(operationId)) return null
  const { isOfVault, resource } = resourceOf(path, operationId)
  return { isOfVault, resource, method: methodOf(resource === '' ? 'vault' : resource, operationId) }
}

function resourceOf(path, operationId) {
  if (!path.startsWith('/api/v1/')) return { isOfVault: false, resource: 'service' }
  const inVault = '/api/v1/vaults/{code}'
  if (path === inVault) return { isOfVault: true, resource: '' }
  const isBelowVault = path.startsWith(`${inVault}/`)
  // Actions on the vault itself, such as POST /vaults/{code}/lock.
  if (isBelowVault && /^[a-z]+Vault$/.test(operationId)) return { isOfVault: true, resource: '' }
  const [segment] = path.slice((isBelowVault ? inVault : '/api/v1').length + 1).split('/')
  return {
    isOfVault: isBelowVault || collectionsOfVaults.has(segment),
    resource: resourceOfPath.get(path) ?? resourceOfOperation.get(operationId) ?? camelCase(segment),
  }
}

/** Returns the method: `createTransfer` of `transfers` is `create`, `getTransferEvidence` is `getEvidence`. */
function methodOf(resource, operationId) {
  // A report has the name of its subject.
  if (resource === 'reports' && operationId.startsWith('report')) return firstLower(operationId.slice('report'.length))
  const plural = pascalCase(resource)
  const nouns = [plural, singularOf(plural), ...(nounsOfResource[resource] ?? [])].sort((a, b) => b.length - a.length)
  for (const noun of nouns) {
    const match = new RegExp(`^(.*?[a-z])${noun}(?=[A-Z]|$)`).exec(operationId)
    if (match !== null) return match[1] + operationId.slice(match[0].length)
  }
  return operationId
}

function singularOf(noun) {
  if (noun.endsWith('ies')) return `${noun.slice(0, -3)}y`
  if (noun.endsWith('sses')) return noun.slice(0, -2)
  return noun.endsWith('s') ? noun.slice(0, -1) : noun
}

function camelCase(segment) {
  return segment.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase())
}

/** @param {string} name */
export function pascalCase(name) {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function firstLower(name) {
  return name.charAt(0).toLowerCase() + name.slice(1)
}
