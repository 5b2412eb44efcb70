/** `postgresql://user@first:5432,second:5432/name` names a primary and its standbys: returns the URL of each. */
export function urlsOfHosts(url: string): string[] {
  const [, start, hosts, end = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([/?#].*)?$/s.exec(url) ?? []
  return hosts === undefined ? [url] : hosts.split(',').map((host) => start + host + end)
}

/** The first of them, for what all have in common: the role and its password. */
export const firstHostOf = (url: string): URL => new URL(urlsOfHosts(url)[0]!)
