import type { Config } from '../config.ts'
import { createMailer, type Mailer } from './transport.ts'

const mailers = new WeakMap<Config, Mailer>()

/** The mailer of this node, made at the first mail. */
export function mailerOf(config: Config): Mailer {
  const known = mailers.get(config)
  if (known !== undefined) return known
  const mailer = createMailer(config)
  mailers.set(config, mailer)
  return mailer
}
