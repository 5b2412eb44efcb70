/** The parameters of SMTP_URL are options of the mail library and override ours. */
export function weakensTls(url: URL): boolean {
  return [...url.searchParams].some(
    ([name, value]) =>
      (/^(ignoreTLS|opportunisticTLS)$/.test(name) && value !== 'false') ||
      (/^(secure|requireTLS|tls\.rejectUnauthorized)$/.test(name) && value !== 'true'),
  )
}
