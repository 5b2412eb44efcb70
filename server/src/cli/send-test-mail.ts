import { join } from 'node:path'
import { readMailConfig } from '../config/config.ts'
import { newId } from '../lib/ids.ts'
import { createMailer } from '../mail/transport.ts'

const text = 'Strongroom sends its mails with these settings. Nobody needs to do anything.'

/**
 * Sends one mail with the settings of a node, so that an operator sees if the mail server accepts it and where it arrives.
 * @throws an error with the answer of the mail server
 */
export async function sendTestMail(address: string): Promise<void> {
  const config = readMailConfig()
  const date = new Date()
  const mail = {
    id: newId(date),
    date,
    to: address,
    subject: 'Strongroom: a mail to see whether mails arrive',
    text: `${text}\n`,
    html: `<!doctype html><html lang="en"><title>Strongroom</title><p>${text}</p></html>`,
  }
  const receiver = config.smtpUrl === null ? join(config.dataDir, 'outbox') : new URL(config.smtpUrl).host
  await createMailer(config)
    .send(mail)
    .catch((error: Error) => {
      throw new Error(`The mail was not taken by ${receiver}: ${error.message}`, { cause: error })
    })
  process.stdout.write(`A mail from ${config.mailFrom} to ${address} was handed to ${receiver}.\n`)
}
