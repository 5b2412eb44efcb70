/**
 * Checks the base URL of a wallet service: http or https, no credentials, query or fragment. What it resolves to is
 * checked at connect time, because a name may resolve differently then. Returns null or what is wrong.
 */
export function faultOfWalletUrl(text: string): string | null {
  if (!URL.canParse(text)) return 'must be a URL'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL'
  // A URL parser corrects its input, but the stored URL must be exactly the one that is called.
  if (!/^https?:\/\/[^/\\]/i.test(text) || /[\s\\]/.test(text)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials; use walletServiceSecret'
  if (text.includes('#')) return 'must have no fragment'
  if (text.includes('?')) return 'must have no query'
  return null
}
