import { readFile } from 'node:fs/promises'
import { conformanceCommand } from '@strongroom/wallet-conformance'
import { Command, CommanderError } from 'commander'
import { describeSettings } from '../config/config.ts'
import { describeFailure } from '../config/describe-failure.ts'
import { describeVersion, thisVersion } from '../config/version.ts'
import type { VerifyFlags } from './verify-commands.ts'

/** The exit codes are those of diff: 0 for success, 1 for a finding of a verification, 2 when the command could not do its work. */
const couldNotRun = 2

const program = new Command('strongroom')
  .description('Custody vault service: ledger, policies, approvals and audit log for digital assets')
  .version(describeVersion(thisVersion), '--version', 'print the version, and the commit of a package')
  .exitOverride()

program
  .command('start')
  .description('run the service until it receives SIGINT or SIGTERM')
  .action(async () => {
    await import('../main.ts')
  })

program
  .command('migrate')
  .description('bring the database up to this version')
  .option('--wait', 'wait until nodes of an earlier version have ended, if they cannot work with the new schema')
  .action(async ({ wait = false }: { wait?: boolean }) => (await openCommands()).migrateDatabase(wait))

program
  .command('config')
  .description('list the settings with their meaning, default and present value')
  .action(printSettings)

const admin = program.command('admin').description('platform administrators')

admin
  .command('add')
  .argument('<email>')
  .description('make a person a platform administrator and print a sign-in link for them')
  .action(async (email: string) => {
    const address = parseEmail(email)
    await (await openCommands()).addAdmin(address)
  })

admin
  .command('link')
  .argument('<email>')
  .description('print a sign-in link for a person whose mail does not arrive; the audit log records it')
  .action(async (email: string) => {
    const address = parseEmail(email)
    await (await openCommands()).printSignInLink(address)
  })

admin
  .command('disable')
  .argument('<email>')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps')
  .description(
    'disable a person: their sessions and votes end with the next request. Prints what others must do afterwards',
  )
  .action(async (email: string, { reason }: { reason: string }) => {
    const address = parseEmail(email)
    await (await openCommands()).disableUser(address, reason)
  })

admin
  .command('enable')
  .argument('<email>')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps')
  .description('enable a person who was disabled')
  .action(async (email: string, { reason }: { reason: string }) => {
    const address = parseEmail(email)
    await (await openCommands()).enableUser(address, reason)
  })

admin
  .command('remove-passkeys')
  .argument('<email>')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps')
  .description('remove the passkeys of a person who lost them; the person gets a mail')
  .action(async (email: string, { reason }: { reason: string }) => {
    const address = parseEmail(email)
    await (await openCommands()).removePasskeys(address, reason)
  })

admin
  .command('allow-passkey')
  .argument('<email>')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps')
  .description(
    'let a person of a protected vault add their first passkey alone within an hour, when nobody is left who could accept it; ' +
      'the person gets a mail',
  )
  .action(async (email: string, { reason }: { reason: string }) => {
    const address = parseEmail(email)
    await (await openCommands()).allowPasskey(address, reason)
  })

program
  .command('governance')
  .description('votes on changes of the rules of a vault')
  .command('reset')
  .argument('<vault>', 'code of the vault')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps and every member of the vault reads')
  .option('--gone <emails...>', 'disabled people who will not come back')
  .description('lower the threshold of the governance of a vault, when too few voters are left to reach it')
  .action(async (vault: string, { reason, gone = [] }: { reason: string; gone?: string[] }) =>
    (await openCommands()).lowerThreshold(vault, { reason, gone }),
  )

program
  .command('holds')
  .description('holds of a vault')
  .command('release')
  .argument('<vault>', 'code of the vault')
  .argument('<hold>', 'id of the hold')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps and every member of the vault reads')
  .description('release a hold, when everybody who could release it is held')
  .action(async (vault: string, hold: string, { reason }: { reason: string }) =>
    (await openCommands()).releaseHold(vault, hold, reason),
  )

program
  .command('authority')
  .description('the people and services that sign for a protected vault')
  .command('accept')
  .argument('<vault>', 'code of the vault')
  .requiredOption(
    '--fingerprint <digits>',
    'the first digits of the fingerprint that the wallet service shows, after people compared it; "none" if it shows no authority',
  )
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps')
  .description('accept an authority that is older than the last one seen, after people have compared it')
  .action(async (vault: string, { fingerprint, reason }: { fingerprint: string; reason: string }) =>
    (await openCommands()).acceptShownAuthority(vault, fingerprint, reason),
  )

program
  .command('recover')
  .option('--dry-run', 'only print what would be done')
  .option(
    '--owner <email>',
    'e-mail address of the member who becomes the owner of addresses that the database has lost',
  )
  .description(
    'after a restore, add what the database lost and the wallet services still know, and end the halt of vaults; may be repeated',
  )
  .action(async ({ owner, ...flags }: { dryRun?: boolean; owner?: string }) =>
    (await openCommands()).recover({ ...flags, ...(owner === undefined ? {} : { owner: parseEmail(owner) }) }),
  )

/** Adds the options of a verifier that compares with witnesses. */
const verifier = (command: Command) =>
  command
    .option('--json', 'print the result as JSON')
    .option(
      '--head <files...>',
      'files with the heads that a witness keeps: its own file, its mails or JSON, or the output of "heads"',
    )
    .option(
      '--key <ids...>',
      'keys that may have signed, in addition to SEAL_KEYS and the key of STRONGROOM_SECRET_KEY',
    )

const ledger = program.command('ledger').description('ledger entries and their seals')

verifier(ledger.command('verify'))
  .description('recompute the whole ledger and its seals; exits 1 on a difference')
  .action(async (flags: VerifyFlags) => (await openVerifiers()).reportLedger(flags))

ledger
  .command('heads')
  .description('print the newest seal of each vault, to be kept in another place')
  .action(async () => (await openVerifiers()).printHeads('ledger'))

ledger
  .command('seal-late')
  .requiredOption('--reason <text>', 'the reason, which the audit log keeps')
  .description(
    'add entries that no seal holds to the next seal, after people have compared them; the audit log records it',
  )
  .action(async ({ reason }: { reason: string }) => (await openCommands()).sealLateEntries(reason))

const auditCommand = program.command('audit').description('audit records and their seals')

verifier(auditCommand.command('verify'))
  .description(
    'recompute the audit records and compare transfers, requests and votes with them; exits 1 when something was changed. ' +
      'Keep the printed seals in another place',
  )
  .action(async (flags: VerifyFlags) => (await openVerifiers()).reportAudit(flags))

auditCommand
  .command('heads')
  .description('print the newest seal of each seal chain, to be kept in another place')
  .action(async () => (await openVerifiers()).printHeads('audit'))

program
  .command('state')
  .description('members, policies, holds and the other rows that decide')
  .command('verify')
  .option('--json', 'print the result as JSON')
  .description(
    'replay the audit records and compare members, policies, governance, holds, passkeys, wallet services, votes and requests ' +
      'with them; names each forged row, and exits 1 when there is a forged row',
  )
  .action(async (options: { json?: true }) => (await openCommands()).reportState(options.json === true))

program
  .command('secrets')
  .description('secrets that the database stores sealed')
  .command('rotate')
  .option('--previous-file <file>', 'file that holds the previous key, instead of STRONGROOM_SECRET_KEY_PREVIOUS')
  .description(
    'seal every secret again under STRONGROOM_SECRET_KEY; STRONGROOM_SECRET_KEY_PREVIOUS is the previous key. Stop the ' +
      'nodes first, and start them with the new key. Exits 1 when neither key opens a secret',
  )
  .action(async ({ previousFile }: { previousFile?: string }) => (await openCommands()).rotateSecrets(previousFile))

program
  .command('evidence')
  .description('files of evidence')
  .command('verify')
  .argument('<file>', 'evidence of a transfer, or an approval request, as the API returns it')
  .option('--key <fingerprints...>', 'the keys that may have signed; any key if this option is absent')
  .description(
    'check a file without a service or a database: its hashes, seals, entries of the ledger and signatures, and which of its ' +
      'values they prove; exits 1 when something contradicts itself',
  )
  .action(async (file: string, { key = [] }: { key?: string[] }) => {
    const { reportOnFile } = await import('./verify-evidence.ts')
    const report = await reportOnFile(await readFile(file, 'utf8'), key)
    if (report === null) throw new Error(`${file} is neither the evidence of a transfer nor an approval request`)
    const { lines, isSound } = report
    for (const line of lines) print(line)
    if (!isSound) process.exitCode = 1
  })

program
  .command('archive')
  .description('archives for auditors')
  .command('verify')
  .argument('<file>', 'archive as the API or the console gives it out')
  .option('--key <ids...>', 'the keys of the node that may have signed; any key if this option is absent')
  .option(
    '--head <files...>',
    'files with the heads that a witness keeps: its own file, its mails or JSON, or the output of "heads"',
  )
  .description(
    'check an archive without a service or a database: its members against their sums, the signature, the seals and the evidence; ' +
      'prints a sentence for each difference, and exits 1 if there is one',
  )
  .action(async (file: string, { key = [], head = [] }: { key?: string[]; head?: string[] }) => {
    const { reportOnArchive } = await import('./verify-archive.ts')
    const heads = await Promise.all(head.map((path) => readFile(path, 'utf8')))
    const { lines, isSound } = await reportOnArchive(file, { keys: key, heads })
    for (const line of lines) print(line)
    if (!isSound) process.exitCode = 1
  })

program
  .command('doctor')
  .option('--json', 'print the result as JSON')
  .option('--alerts', 'print the checks as alert rules for Prometheus, and check nothing')
  .option('--dashboard', 'print a dashboard of the figures for Grafana, and check nothing')
  .option('--mail <address>', 'send one mail to this address as a node sends its mails, and check nothing else')
  .description('check the state of the installation, and say how to correct each fault; exits 1 when a check is red')
  .action(async (options: { json?: true; alerts?: true; dashboard?: true; mail?: string }) => {
    if (options.mail !== undefined) return (await import('./send-test-mail.ts')).sendTestMail(parseEmail(options.mail))
    if (options.alerts === true) return print((await import('../jobs/watch/checks.ts')).alertRules().trimEnd())
    if (options.dashboard === true) return print((await import('../jobs/watch/dashboard.ts')).dashboard().trimEnd())
    await (await openCommands()).reportHealth(options.json === true)
  })

program.addCommand(conformanceCommand('wallet-conformance').copyInheritedSettings(program))

const policy = program
  .command('policy')
  .description(
    'the rules of a vault as a file, through the API of STRONGROOM_URL with the service token STRONGROOM_TOKEN. Exits 0 when ' +
      'nothing differs or the rules were applied, 2 when they differ, 3 when votes are missing, 1 on any failure',
  )

policy
  .command('export')
  .argument('<vault>', 'code of the vault')
  .option('-o, --output <file>', 'write into this file, and keep the comments that it has')
  .description('print the rules as YAML, in a stable order')
  .action(async (vault: string, options: { output?: string }) => (await openPolicies()).exportRules(vault, options))

const withTrial = (command: Command) =>
  command
    .argument('<file>', 'rules as YAML')
    .option('--days <number>', 'the number of days whose decisions are repeated', '30')
    .option('--no-backtest', 'do not try the rules on past decisions')

withTrial(policy.command('plan'))
  .description('print what a file would change in the rules, and in past decisions; changes nothing')
  .action(async (file: string, options) => (await openPolicies()).planRules(file, options))

withTrial(policy.command('apply'))
  .option('--title <text>', 'the purpose of the change set, for its voters')
  .option('--wait', 'wait until the change set was applied or has ended')
  .option('--timeout <minutes>', 'the longest time to wait', '60')
  .description('open a change set with the changes of a file, and submit it')
  .action(async (file: string, options) => (await openPolicies()).applyRules(file, options))

program
  .command('openapi')
  .description('print the OpenAPI document of this version')
  .action(async () => {
    const { describeApi } = await import('./describe-api.ts')
    process.stdout.write(await describeApi())
  })

// A program that reads the output, such as head, may close the pipe early.
process.stdout.on('error', () => process.exit())

try {
  await program.parseAsync()
} catch (error) {
  // A failure of `policy` exits 1, because 2 tells CI that the rules differ.
  const failed = process.argv[2] === 'policy' ? 1 : couldNotRun
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : failed
  else {
    process.stderr.write(`strongroom: ${describeFailure(error)}\n`)
    process.exitCode = failed
  }
}

/** Loads the commands only when they are needed: their libraries take most of the start time, and help and settings do not use them. */
function openCommands() {
  return import('./database-commands.ts')
}

function openVerifiers() {
  return import('./verify-commands.ts')
}

function openPolicies() {
  return import('../policies-as-code/command.ts')
}

function printSettings(): void {
  for (const { name, about, fallback, value } of describeSettings()) {
    print(name)
    print(`    ${about}`)
    print(`    default: ${fallback === '' ? 'none' : fallback}; now: ${value ?? 'not set'}`)
  }
}

function parseEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new Error(`"${text}" is not an e-mail address`)
  return email
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
