/** Returns the URL of each host of `postgresql://user@first:5432,second:5432/name`, which names a primary and its standbys. */
export function urlsOfHosts(url: string): string[] {
  const [, start, hosts, end = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([/?#].*)?$/s.exec(url) ?? []
  return hosts === undefined ? [url] : hosts.split(',').map((host) => start + host + end)
}

/** Returns the URL of the first host. Role and password are the same for all hosts. */
export const firstHostOf = (url: string): URL => new URL(urlsOfHosts(url)[0]!)
