import type { Config } from '../config/config.ts'
import type { Deps } from '../deps.ts'
import { createMailer, type Mail, type Mailer } from './transport.ts'

/** The time that a node that stops waits for a mail server. It fits into the time that a process manager gives a node to stop. */
const stopMilliseconds = 6_000

/**
 * Sends a mail. Returns false when the mail server refused it permanently, so that a repetition is useless.
 * @throws Error when the mail was not sent, or may not have been sent, and must be sent again
 */
export async function sendMail(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  mail: Mail,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await unlessStopped(mailerOf(config).send(mail), signal)
    return true
  } catch (error) {
    if (!isPermanentRefusal(error)) throw error
    log.warn({ mailId: mail.id, responseCode: error.responseCode }, 'the mail server permanently refused a mail')
    return false
  }
}

/** Waits for a mail server, and no longer than some seconds after the node is stopped. */
async function unlessStopped(sending: Promise<void>, signal = new AbortController().signal): Promise<void> {
  let giveUp = () => {}
  const stopped = new Promise<never>((_, reject) => {
    const error = new Error('The node stopped before the mail server answered')
    giveUp = () => void setTimeout(() => reject(error), stopMilliseconds).unref()
  })
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp)
  try {
    await Promise.race([sending, stopped])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

const mailers = new WeakMap<Config, Mailer>()

/** Returns the mailer of this node. It is created for the first mail. */
function mailerOf(config: Config): Mailer {
  const known = mailers.get(config)
  if (known !== undefined) return known
  const mailer = createMailer(config)
  mailers.set(config, mailer)
  return mailer
}

/** Returns true for a permanent refusal of the mail: a reply from 550 to 559 (RFC 5321, 4.2.1). */
function isPermanentRefusal(error: unknown): error is { responseCode: number } {
  const code = (error as { responseCode?: unknown } | null)?.responseCode
  // Other permanent codes, such as 535, reject the credentials of the service. The operator can correct them while the mail waits.
  return typeof code === 'number' && code >= 550 && code < 560
}
