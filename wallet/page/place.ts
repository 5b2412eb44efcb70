const { origin = '', console: consoleOrigin = '', rpId = '' } = document.documentElement.dataset

/** The origin of this page, the console that is handed signatures, and the host of the passkeys, as the wallet service is set up. */
export { consoleOrigin, origin, rpId }

/** Says why nothing can be signed where this page was opened. Returns null when it can. */
export function faultOfPlace(): string | null {
  // The policy forbids frames, too: this is for browsers that do not obey it.
  if (window.top !== window.self) return 'This page does not work inside another page.'
  if (location.origin !== origin) return `This page works at ${origin} only.`
  if (!('PublicKeyCredential' in window)) return 'This browser cannot use passkeys.'
  return null
}
