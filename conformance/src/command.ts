import { Command, Option } from 'commander'
import type { Flags } from './run-command.ts'

/** The kit as a command: a program of its own, and one of those of `strongroom`. Reading its options loads no check. */
export function conformanceCommand(name: string): Command {
  return new Command(name)
    .argument('[url]', 'base URL of the wallet service')
    .description(
      'check a wallet service against the wallet protocol; exits 1 when a check fails. WALLET_TOKEN is its bearer token, ' +
        'WALLET_OTHER_TOKEN that of a second client, WALLET_PROTECTED_TOKEN that of one with an authority, ' +
        'WALLET_WEBHOOK_SECRET what signs its webhooks',
    )
    .addOption(
      new Option('--type <type>', 'family of the network, whose own checks are run (default: evm)').choices([
        'evm',
        'bitcoin',
        'litecoin',
      ]),
    )
    .option('--network <name>', 'network to check (default: ethereum, bitcoin or litecoin)')
    .option('--coin-type <number>', 'coin type of the network (default: 60, 0 or 2)')
    .option('--account <number>', 'account of the paths m/44/<coin type>/<account>/…; no vault may use it', '9000')
    .option('--non-evm', 'a network of no family with checks of its own; deprecated for Bitcoin and Litecoin: --type')
    .option('--authority-keys <keys...>', 'ID=FILE: private keys (PEM, Ed25519) of services that the authority names')
    .option('--token <contract>', 'contract of a token on the network')
    .option('--token-decimals <number>', 'decimals of that token', '18')
    .option('--spend', 'move small amounts between addresses of the kit; use a test chain')
    .option('--webhook-port <port>', 'listen for deposits on this port, which the webhook URL of the service names')
    .option('--webhook-host <address>', 'address to listen on', '127.0.0.1')
    .option('--wait <seconds>', 'how long to wait for funds, confirmations and deposits', '300')
    .option('--restart-command <command>', 'restarts the wallet service, in a shell')
    .option('--backup-command <command>', 'keeps a backup of its database, in a shell')
    .option('--restore-command <command>', 'brings back that backup, in a shell; the service runs again afterwards')
    .option('--many <number>', 'place so many orders at the check of long lists, such as 10000')
    .option('--only <names...>', 'run these checks or categories only')
    .option('--json', 'print the results as JSON')
    .option('--list', 'list the checks and run none')
    .action(async (url: string | undefined, flags: Flags) => {
      const { runCommand } = await import('./run-command.ts')
      await runCommand(url, flags)
    })
}
