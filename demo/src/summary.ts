import { join } from 'node:path'
import { hasNodes } from './coins.ts'
import { people, vaultCode } from './organisation.ts'

type Facts = {
  url: string
  link: string
  adminEmail: string
  dataDir: string
  mailsToFiles: boolean
  address: string
  rpcUrl: string
  chainId: number
  hasCompany: boolean
  seconds: number
}

/** Prints the running parts, their addresses, and how to sign in. */
export function printSummary(facts: Facts): void {
  const { url, link, adminEmail, dataDir, mailsToFiles, address, rpcUrl, chainId, hasCompany, seconds } = facts
  const mails = mailsToFiles ? `appear as files in ${join(dataDir, 'outbox')}` : 'are sent by SMTP_URL'
  const lines = [
    ['Console', url],
    ['Sign in', link],
    ['', `as ${adminEmail}; the link works once, within 10 minutes, and opens what waits for a vote`],
    ['API', `${url}/api/v1`],
    ['Reference', `${url}/docs`],
    ['Others', `${Object.values(people).join(', ')}`],
    ['', `ask for a link at ${url}/sign-in`],
    ['Mails', mails],
    ['Vault', vaultCode],
    ['Operations', `${address} (5 ETH and 50,000 TUSD arrive there by the chain)`],
    ['Reserve', 'a protected vault, which is being set up; its people sign with npm run demo:sign (README)'],
    ...(hasNodes ? [['Deposits', 'a vault with Bitcoin and Litecoin on local nodes, which is being set up']] : []),
    ...(hasCompany ? [['Company', 'an identity provider and a directory, which are being set up (SSO_DEMO)']] : []),
    ['Chain', `${rpcUrl}, chain id ${chainId}, for tests only`],
    ['Logs', join(dataDir, 'logs')],
    ['Stop', 'Ctrl-C; the next start goes on from there'],
  ]
  const text = lines.map(([name, value]) => `  ${name!.padEnd(11)} ${value}`).join('\n')
  process.stdout.write(`\nStrongroom is ready after ${seconds.toFixed(1)} s.\n\n${text}\n\n`)
}
