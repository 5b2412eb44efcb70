/** Returns true if a parameter of SMTP_URL switches TLS or its checks off. Parameters override the options of this service. */
export function weakensTls(url: URL): boolean {
  return [...url.searchParams].some(
    ([name, value]) =>
      (/^(ignoreTLS|opportunisticTLS)$/.test(name) && value !== 'false') ||
      (/^(secure|requireTLS|tls\.rejectUnauthorized)$/.test(name) && value !== 'true'),
  )
}
