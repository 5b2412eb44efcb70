import { createRequire } from 'node:module'
import { Command } from 'commander'
import type pg from 'pg'
import {
  ConfigError,
  readDoctorConfig,
  readPassphraseChange,
  readStoreConfig,
  readWalletConfig,
  type StoreConfig,
} from './config.ts'

// Each command imports what it needs: the libraries of the chain alone take half a second.

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

const program = new Command('strongroom-wallet')
  .description('Reference wallet service of Strongroom for EVM networks, Bitcoin and Litecoin')
  .version(version, '--version', 'print the version')

program
  .command('serve')
  .description('answer the wallet protocol, send transfers, watch blocks')
  .action(() => orExit(serve))

program
  .command('migrate')
  .description('bring the database schema up to date')
  .action(() =>
    orExit(() =>
      withStore(async (pool) => {
        const { migrate } = await import('./database/migrate.ts')
        const applied = await migrate(pool)
        print(applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`)
      }),
    ),
  )

const client = program.command('client').description('the vaults that may use this wallet service')

client
  .command('add')
  .argument('<name>')
  .description('create a client with keys of its own; prints its token once')
  .action((name: string) =>
    orExit(() =>
      withStore(async (pool, passphrase) => {
        const { migrate } = await import('./database/migrate.ts')
        const { addClient } = await import('./clients.ts')
        const { openKeyring } = await import('./keys/keyring.ts')
        await migrate(pool)
        if (name === '' || name.length > 100) throw new ConfigError('a client name has 1 to 100 characters')
        const token = await addClient(pool, await openKeyring(pool, passphrase), name)
        if (token === null) throw new ConfigError(`a client named ${name} already exists`)
        print(token)
      }),
    ),
  )

client
  .command('list')
  .description('list the clients')
  .action(() =>
    orExit(() =>
      withStore(async (pool) => {
        const { migrate } = await import('./database/migrate.ts')
        const { listClients } = await import('./clients.ts')
        await migrate(pool)
        for (const { name, addressCount, createdAt } of await listClients(pool)) {
          print(`${name}\t${addressCount} addresses\t${createdAt.toISOString()}`)
        }
      }),
    ),
  )

program
  .command('passphrase')
  .option('--previous-file <file>', 'file that holds the previous passphrase, instead of WALLET_PASSPHRASE_PREVIOUS')
  .description(
    'seal the keys again under WALLET_PASSPHRASE; WALLET_PASSPHRASE_PREVIOUS is the passphrase before it. Keys and ' +
      'addresses stay the same; restart the service afterwards',
  )
  .action(({ previousFile }: { previousFile?: string }) =>
    orExit(async () => {
      const { previous, passphrase, ...store } = await readPassphraseChange(previousFile)
      await withPool(store, async (pool) => {
        const { migrate } = await import('./database/migrate.ts')
        const { changePassphrase } = await import('./keys/keyring.ts')
        await migrate(pool)
        const count = await changePassphrase(pool, { previous, next: passphrase })
        print(
          count === null ? 'the passphrase already opens the key store' : `sealed the keys of ${count} clients again`,
        )
      })
    }),
  )

program
  .command('accept-nonce')
  .argument('<network>')
  .argument('<address>')
  .argument('<next-nonce>')
  .description('after a restore: the transactions below this nonce were checked, sign on from it')
  .action((network: string, address: string, nextNonce: string) =>
    orExit(() =>
      withStore(async (pool) => {
        const { readAddress } = await import('./chains/evm/addresses.ts')
        const { acceptNonce, PaidOrdersError } = await import('./transfers/accept-nonce.ts')
        const isEvm = /^0x[0-9a-fA-F]{40}$/.test(address)
        if (!(isEvm || /^[a-z0-9]{14,128}$/.test(address)) || !/^\d{1,15}$/.test(nextNonce))
          throw new ConfigError('an address and a whole number are needed')
        const stored = isEvm ? readAddress('address', address) : address
        const order = { network, address: stored, nextNonce: Number(nextNonce) }
        const isAccepted = await acceptNonce(pool, order).catch((error: unknown) => {
          throw error instanceof PaidOrdersError ? new ConfigError(error.message) : error
        })
        if (!isAccepted) {
          throw new ConfigError('nothing changed: the address is unknown, or its next nonce is not below the given one')
        }
        print(`${order.address} signs on from nonce ${order.nextNonce} on ${network}`)
      }),
    ),
  )

program
  .command('descriptor')
  .argument('<network>')
  .argument('<client>')
  .description(
    'print what a standard wallet needs to find the addresses of a client on Bitcoin or Litecoin: descriptors, and the last index of each',
  )
  .action((network: string, name: string) =>
    orExit(() =>
      withStore(async (pool, passphrase) => {
        const { migrate } = await import('./database/migrate.ts')
        const { findClientByName } = await import('./clients.ts')
        const { openKeyring } = await import('./keys/keyring.ts')
        const { listDescriptors } = await import('./chains/bitcoin/list-descriptors.ts')
        const { around } = await placeOf(pool, undefined)
        const type = around.chains.get(network)?.kind.type
        if (type !== 'bitcoin' && type !== 'litecoin')
          throw new ConfigError(`WALLET_CHAINS has no network ${network} of the type bitcoin or litecoin`)
        await migrate(pool)
        const clientId = await findClientByName(pool, name)
        if (clientId === null) throw new ConfigError(`no client is named ${name}`)
        const keyring = await openKeyring(pool, passphrase)
        for (const { text, last } of await listDescriptors({ pool, keyring }, { clientId, network }))
          print(last === null ? text : `${text}\t0-${last}`)
      }),
    ),
  )

program
  .command('rescan')
  .argument('<network>')
  .argument('<block>')
  .description(
    'after a restore: read the blocks from this one on again, for deposits to addresses that were not watched',
  )
  .action((network: string, block: string) =>
    orExit(() =>
      withStore(async (pool) => {
        const { rescan } = await import('./deposits/rescan.ts')
        if (!/^\d{1,15}$/.test(block)) throw new ConfigError('a block is a whole number')
        if (!(await rescan(pool, { network, block: Number(block) })))
          throw new ConfigError('nothing changed: the network is unknown, or its blocks were not read that far')
        print(`the blocks of ${network} are read again from ${block}`)
      }),
    ),
  )

const authority = program.command('authority').description('whose signatures the orders of a client need')

authority
  .command('init')
  .argument('<client>')
  .argument('<file>')
  .option(
    '--fingerprint <digits>',
    'the first eight digits or more of the fingerprint, as another screen shows it; without it, the command asks',
  )
  .description('pin version 1 of the authority; from then on the client is protected')
  .action((name: string, file: string, { fingerprint }: { fingerprint?: string }) =>
    orExit(() =>
      withStore(async (pool, _passphrase, directory) => {
        const { initAuthority } = await import('./authority/ceremony.ts')
        await initAuthority(await placeOf(pool, directory), name, file, fingerprint)
      }),
    ),
  )

authority
  .command('show')
  .argument('<client>')
  .option('--json', 'the document itself')
  .description('show the authority in force, with its fingerprint and those of its keys')
  .action((name: string, options: { json?: boolean }) =>
    orExit(() =>
      withStore(async (pool, _passphrase, directory) => {
        const { showAuthority } = await import('./authority/ceremony.ts')
        await showAuthority(await placeOf(pool, directory), name, options)
      }),
    ),
  )

authority
  .command('update')
  .argument('<client>')
  .argument('<file>')
  .argument('<votes-file>')
  .description(
    'take the next version, with votes signed by keys of the version before; it waits for the delay of that version',
  )
  .action((name: string, file: string, votesFile: string) =>
    orExit(() =>
      withStore(async (pool, _passphrase, directory) => {
        const { nextAuthority } = await import('./authority/ceremony.ts')
        await nextAuthority(await placeOf(pool, directory), name, file, votesFile)
      }),
    ),
  )

authority
  .command('pending')
  .argument('<client>')
  .description('show the version that waits, when it comes into force, who signed it, and who signed against it so far')
  .action((name: string) =>
    orExit(() =>
      withStore(async (pool, _passphrase, directory) => {
        const { showPending } = await import('./authority/ceremony.ts')
        await showPending(await placeOf(pool, directory), name)
      }),
    ),
  )

authority
  .command('cancel')
  .argument('<client>')
  .argument('<votes-file>')
  .description('cancel the version that waits, with signed votes `reject` on its hash')
  .action((name: string, votesFile: string) =>
    orExit(() =>
      withStore(async (pool, _passphrase, directory) => {
        const { cancelAuthority } = await import('./authority/ceremony.ts')
        await cancelAuthority(await placeOf(pool, directory), name, votesFile)
      }),
    ),
  )

program
  .command('doctor')
  .description(
    'say who else can reach the orders and the authorities; SERVICE_DATABASE_URL names the database to compare',
  )
  .action(() =>
    orExit(() =>
      withPool(readDoctorConfig(), async (pool) => {
        const { databaseUrl, serviceDatabaseUrl, authorityDir } = readDoctorConfig()
        const { migrate } = await import('./database/migrate.ts')
        const { examine } = await import('./doctor.ts')
        await migrate(pool)
        const { around } = await placeOf(pool, authorityDir)
        const findings = await examine(pool, { databaseUrl, serviceDatabaseUrl, authorityDir, around })
        for (const { isRight, sentence } of findings) print(`${isRight ? 'ok  ' : 'warn'}  ${sentence}`)
        if (findings.some(({ isRight }) => !isRight)) process.exitCode = 1
      }),
    ),
  )

/** Nodes that are closed at the end: an open connection would keep the process running. */
const nodes: { close(): Promise<void> }[] = []
await program.parseAsync()
await Promise.all(nodes.map((node) => node.close()))

async function placeOf(pool: pg.Pool, directory: string | undefined) {
  const { readCeremonyConfig } = await import('./config.ts')
  const { openChains } = await import('./chains/open-chains.ts')
  const { chains, signing, mail } = readCeremonyConfig()
  const opened = await openChains(chains, pool)
  nodes.push(...opened.values())
  const around = { chains: opened, signingOrigin: signing?.origin ?? null, sendsMail: mail !== undefined }
  return { pool, directory, print, around }
}

async function serve(): Promise<void> {
  const config = readWalletConfig()
  const { startWallet } = await import('./start-wallet.ts')
  const wallet = await startWallet(config)
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    // A hanging node would delay the end beyond the timeout of process managers, so the process then ends anyway.
    setTimeout(() => process.exit(1), stopTimeoutMilliseconds).unref()
    wallet.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // A parent that spawned this process with an IPC channel receives the port, and this process ends with it.
  process.send?.({ type: 'ready', port: wallet.port })
  if (process.channel) process.on('disconnect', stop)
}

const stopTimeoutMilliseconds = 15_000

async function withStore(
  work: (pool: pg.Pool, passphrase: string, authorityDir: string | undefined) => Promise<void>,
): Promise<void> {
  const config = readStoreConfig()
  await withPool(config, (pool) => work(pool, config.passphrase, config.authorityDir))
}

async function withPool(
  { databaseUrl, logLevel }: Pick<StoreConfig, 'databaseUrl' | 'logLevel'>,
  work: (pool: pg.Pool) => Promise<void>,
): Promise<void> {
  const { openPool } = await import('./database/open-pool.ts')
  const { openLog } = await import('./log.ts')
  const pool = openPool(databaseUrl, openLog(logLevel))
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}

/** A start that fails ends with one line on standard error and the code 1. */
async function orExit(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`strongroom-wallet: ${describeStartError(error)}\n`)
    process.exit(1)
  }
}

function describeStartError(error: unknown): string {
  if (error instanceof AggregateError) return describeStartError(error.errors[0])
  return error instanceof Error ? error.message.replace(/\s*\n\s*/g, ' ') : String(error)
}

function print(line: string) {
  process.stdout.write(`${line}\n`)
}
