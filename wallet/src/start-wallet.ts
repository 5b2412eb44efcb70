import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import type { Logger } from 'pino'
import { buildApp } from './app.ts'
import { markAuthorities, raiseMarks } from './authority/protection.ts'
import { type AuthorityStore, openAuthorities } from './authority/store.ts'
import { createTeller, type Teller } from './authority/tell-contacts.ts'
import type { Chain, Heads } from './chains/chain.ts'
import { openChains } from './chains/open-chains.ts'
import { ensureClient } from './clients.ts'
import type { WalletConfig } from './config.ts'
import { migrate } from './database/migrate.ts'
import { openPool } from './database/open-pool.ts'
import { waitForDatabase } from './database/wait-for-database.ts'
import { followChain } from './follow-chain.ts'
import { openKeyring } from './keys/keyring.ts'
import {
  authorityPollMilliseconds,
  mailPollMilliseconds,
  sendPollMilliseconds,
  webhookPollMilliseconds,
} from './limits.ts'
import { openLog } from './log.ts'
import { type Loop, startLoop } from './loop.ts'
import { createMailer } from './mails/mailer.ts'
import { buildSigningPage } from './signing/page.ts'
import { openChangeFeed } from './transfers/change-feed.ts'
import { sendTransfers } from './transfers/send-transfers.ts'
import { deliverWebhooks } from './webhooks/deliver-webhooks.ts'

export type { ChainConfig } from './chains/settings.ts'
export type { ClientConfig, WalletConfig } from './config.ts'

export type RunningWallet = {
  /** Base URL, such as http://127.0.0.1:41234. */
  url: string
  port: number
  /** Ends the running passes, answers open requests, closes the database. */
  stop(): Promise<void>
}

/**
 * Starts the wallet service in this process; resolves when it answers requests.
 * tidy: long because it lists what runs, in the order in which it starts
 */
export async function startWallet(config: WalletConfig): Promise<RunningWallet> {
  const log = openLog(config.logLevel)
  const pool = openPool(config.databaseUrl, log)
  const feed = openChangeFeed(config.databaseUrl, log)
  const loops: Loop[] = []
  let mails: Loop | undefined
  let deliveries: Loop | undefined
  const senders = new Map<string, Loop>()
  const followers = new Map<string, Loop>()
  const subscriptions: Heads[] = []
  try {
    await waitForDatabase(pool, log)
    await migrate(pool)
    const keyring = await openKeyring(pool, config.passphrase)
    for (const client of config.clients) await ensureClient(pool, keyring, client)
    const authorities = await startAuthorities(config, pool, log)
    const chains = await openChains(config.chains, pool)
    await Promise.all([...chains.values()].map((chain) => chain.refuseOtherNetwork()))
    const wake = (network: string) => senders.get(network)?.wake()
    const signingPage = config.signing && (await buildSigningPage(config.signing))
    const app = buildApp({
      pool,
      keyring,
      authorities,
      chains,
      around: aroundOf(config, chains),
      signingPage,
      feed,
      log,
      onOrder: wake,
      onVersion: () => mails?.wake(),
      onReplay: () => deliveries?.wake(),
    })
    await app.listen({ host: config.host, port: config.port })
    const { port } = app.server.address() as AddressInfo

    const sent = startLoop(log, {
      name: 'webhooks',
      everyMilliseconds: webhookPollMilliseconds,
      pass: () => deliverWebhooks({ pool, log, ...config }),
    })
    deliveries = sent
    loops.push(sent)
    if (authorities !== null) loops.push(watchAuthorities(pool, authorities, log))
    if (authorities !== null && config.mail !== undefined) {
      mails = tellContacts(createTeller({ pool, store: authorities, mailer: createMailer(config.mail), log }), log)
      loops.push(mails)
    }
    for (const chain of chains.values()) {
      const { network, pollMilliseconds } = chain
      const heads = chain.watchHeads(log, () => followers.get(network)?.wake())
      const follower = startLoop(log, {
        name: `follow ${network}`,
        everyMilliseconds: pollMilliseconds,
        pass: followChain({ pool, chain, heads, log, onEvents: () => sent.wake(), onBlock: () => wake(network) }),
      })
      const sender = startLoop(log, {
        name: `send ${network}`,
        everyMilliseconds: sendPollMilliseconds,
        retryMilliseconds: pollMilliseconds,
        pass: () => sendTransfers({ pool, keyring, authorities, chain, log }),
      })
      senders.set(network, sender)
      followers.set(network, follower)
      subscriptions.push(heads)
      loops.push(follower, sender)
    }

    const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
    log.info(`wallet service listening on ${url}`)
    return {
      url,
      port,
      async stop() {
        // Waiting requests are answered first, so that they end.
        await feed.close()
        await app.close()
        await Promise.all(loops.map((loop) => loop.stop()))
        await Promise.all(subscriptions.map((heads) => heads.drop()))
        await pool.end()
      },
    }
  } catch (error) {
    await Promise.all(loops.map((loop) => loop.stop()))
    await Promise.all(subscriptions.map((heads) => heads.drop()))
    await feed.close()
    await pool.end()
    throw error
  }
}

const aroundOf = ({ signing, mail }: WalletConfig, chains: Map<string, Chain>) => ({
  chains,
  sendsMail: mail !== undefined,
  signingOrigin: signing?.origin ?? null,
})

function watchAuthorities(pool: pg.Pool, authorities: AuthorityStore, log: Logger): Loop {
  const pass = async () => {
    await raiseMarks(pool, authorities, log)
    return false
  }
  return startLoop(log, { name: 'authorities', everyMilliseconds: authorityPollMilliseconds, pass })
}

function tellContacts(teller: Teller, log: Logger): Loop {
  const pass = async () => {
    await teller.tell()
    return false
  }
  return startLoop(log, { name: 'mails', everyMilliseconds: mailPollMilliseconds, pass })
}

async function startAuthorities(config: WalletConfig, pool: pg.Pool, log: Logger): Promise<AuthorityStore | null> {
  const authorities = await openAuthorities(config.authorityDir)
  if (authorities !== null) await markAuthorities(pool, authorities, log)
  return authorities
}
