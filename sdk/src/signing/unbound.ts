/**
 * Returns true for a request for changes of the rules that has no hash of the differences that its voters are shown.
 * Early versions of the service made such requests. An approval of such a request proves no differences, and the
 * service does not apply it.
 */
export function isUnbound(boundPayload: object): boolean {
  const { steps } = boundPayload as { steps?: unknown }
  return Array.isArray(steps) && steps.some((prepared) => isUnboundStep(Object(Object(prepared).step)))
}

function isUnboundStep({ action, payload }: { action?: unknown; payload?: unknown }): boolean {
  const { differencesHash } = Object(payload) as { differencesHash?: unknown }
  return action === 'rules_change' && !(typeof differencesHash === 'string' && /^[0-9a-f]{64}$/.test(differencesHash))
}
