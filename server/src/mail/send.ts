import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { createMailer, type Mail, type Mailer } from './transport.ts'

/**
 * Sends a mail. Returns false when the mail server refused it permanently: it would only be refused again.
 * @throws Error when the mail was not sent, or may not have been: it is to be sent again
 */
export async function sendMail({ config, log }: Pick<Deps, 'config' | 'log'>, mail: Mail): Promise<boolean> {
  try {
    await mailerOf(config).send(mail)
    return true
  } catch (error) {
    if (!isPermanentRefusal(error)) throw error
    log.warn({ mailId: mail.id, responseCode: error.responseCode }, 'the mail server permanently refused a mail')
    return false
  }
}

const mailers = new WeakMap<Config, Mailer>()

/** The mailer of this node, made at the first mail. */
function mailerOf(config: Config): Mailer {
  const known = mailers.get(config)
  if (known !== undefined) return known
  const mailer = createMailer(config)
  mailers.set(config, mailer)
  return mailer
}

/** A 5xx reply of SMTP is permanent (RFC 5321, 4.2.1). */
function isPermanentRefusal(error: unknown): error is { responseCode: number } {
  const code = (error as { responseCode?: unknown } | null)?.responseCode
  // 535 and similar codes reject the service's own credentials, which the operator can correct while the mail waits.
  return typeof code === 'number' && code >= 550 && code < 560
}
