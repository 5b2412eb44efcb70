/** Returns the hosts of the URL of a database, and its text before and after them; null for another text. */
function split(url: string): { start: string; hosts: string[]; end: string } | null {
  const [, start, hosts, end] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([/?#].*)?$/s.exec(url) ?? []
  return start === undefined ? null : { start, hosts: hosts!.split(','), end: end ?? '' }
}

/**
 * Returns a URL for each host of the URL of a database. `postgresql://user@first:5432,second:5432/name` names a primary and its
 * standbys, as in libpq.
 */
export function urlsOfHosts(url: string): string[] {
  const parts = split(url)
  return parts === null ? [url] : parts.hosts.map((host) => parts.start + host + parts.end)
}

/** Returns the URL of the first host, for the parts that all hosts share: the role, its password and the name of the database. */
export const firstHostOf = (url: string): URL => new URL(urlsOfHosts(url)[0]!)

/** Returns the URL of a database with these parameters set for all hosts. */
export function withParameters(url: string, parameters: Record<string, string>): string {
  const changed = urlsOfHosts(url).map((single) => {
    const alone = new URL(single)
    for (const [name, value] of Object.entries(parameters)) alone.searchParams.set(name, value)
    return alone.href
  })
  const parts = changed.map((single) => split(single)!)
  return parts[0]!.start + parts.map(({ hosts }) => hosts[0]).join(',') + parts[0]!.end
}
