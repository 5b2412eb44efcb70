/** Only https leads out, and http to this machine: an address that somebody entered is not trusted further. */
export function explorerUrl(network: object | undefined, hash: string): string | null {
  const template = (network as { explorerTxUrl?: string | null } | undefined)?.explorerTxUrl
  if (template === null || template === undefined) return null
  const url = template.replace('{hash}', encodeURIComponent(hash))
  return /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])/.test(url) ? url : null
}
