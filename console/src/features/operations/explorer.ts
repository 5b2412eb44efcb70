import type { Network } from '@strongroom/sdk'

/**
 * Returns the URL of a transaction in the block explorer. A person entered the template, so only https URLs and http
 * URLs of this machine are accepted.
 */
export function explorerUrl(network: Pick<Network, 'explorerTxUrl'> | null, hash: string): string | null {
  const template = network?.explorerTxUrl
  if (template === null || template === undefined) return null
  const url = template.replace('{hash}', encodeURIComponent(hash))
  return /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])/.test(url) ? url : null
}
