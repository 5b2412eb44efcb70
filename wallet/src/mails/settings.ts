/** The mail server of this service, and the sender of its mails. */
export type MailConfig = { smtpUrl: string; requiresTls: boolean; from: string }

type Environment = Record<string, string | undefined>

/** Mails are off without SMTP_URL. */
export function readMail(environment: Environment, faults: string[]): { mail?: MailConfig } {
  const smtpUrl = environment.SMTP_URL || undefined
  if (smtpUrl === undefined) return {}
  if (!URL.canParse(smtpUrl) || !['smtp:', 'smtps:'].includes(new URL(smtpUrl).protocol)) {
    faults.push('SMTP_URL must begin with smtp:// or smtps://')
    return {}
  }
  const url = new URL(smtpUrl)
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  // The parameters of such an address are options of the library: some switch TLS or its checks off.
  if (!isLocal && url.search !== '') faults.push('SMTP_URL must have no parameters, or mails may be sent without TLS')
  if (!isLocal && !environment.MAIL_FROM) faults.push('MAIL_FROM is required with an SMTP_URL on another machine')
  const from = environment.MAIL_FROM || 'Strongroom wallet <strongroom-wallet@localhost>'
  return { mail: { smtpUrl, requiresTls: !isLocal, from } }
}
