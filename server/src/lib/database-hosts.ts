/** A URL of a database, with its parts before and behind the hosts. */
function split(url: string): { start: string; hosts: string[]; end: string } | null {
  const [, start, hosts, end] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([/?#].*)?$/s.exec(url) ?? []
  return start === undefined ? null : { start, hosts: hosts!.split(','), end: end ?? '' }
}

/**
 * The URLs of the hosts of a database. `postgresql://user@first:5432,second:5432/name` names a primary and its standbys, as
 * libpq has it.
 */
export function urlsOfHosts(url: string): string[] {
  const parts = split(url)
  return parts === null ? [url] : parts.hosts.map((host) => parts.start + host + parts.end)
}

/** The first of them, for what all have in common: the role, its password and the name of the database. */
export const firstHostOf = (url: string): URL => new URL(urlsOfHosts(url)[0]!)

/** The same hosts, with other parameters. */
export function withParameters(url: string, parameters: Record<string, string>): string {
  const changed = urlsOfHosts(url).map((single) => {
    const alone = new URL(single)
    for (const [name, value] of Object.entries(parameters)) alone.searchParams.set(name, value)
    return alone.href
  })
  const parts = changed.map((single) => split(single)!)
  return parts[0]!.start + parts.map(({ hosts }) => hosts[0]).join(',') + parts[0]!.end
}
