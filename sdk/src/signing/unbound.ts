/**
 * Returns true for a request for changes of the rules that names no hash of the differences that its voters are shown. Early
 * versions of the service made such requests; an approval of one proves no differences, and the service applies nothing of it.
 */
export function isUnbound(boundPayload: object): boolean {
  const { steps } = boundPayload as { steps?: unknown }
  return Array.isArray(steps) && steps.some((prepared) => isUnboundStep(Object(Object(prepared).step)))
}

function isUnboundStep({ action, payload }: { action?: unknown; payload?: unknown }): boolean {
  const { differencesHash } = Object(payload) as { differencesHash?: unknown }
  return action === 'rules_change' && !(typeof differencesHash === 'string' && /^[0-9a-f]{64}$/.test(differencesHash))
}
