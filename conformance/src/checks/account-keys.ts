import { randomBytes } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { type AccountKey, evmAddressBelow, faultOfAccountKey } from '../account-key.ts'
import { expectAnswer, expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { Blocked } from '../outcomes.ts'
import type { Client, WalletUnderTest } from '../wallet-under-test.ts'

const section = 'get-xpubnetworkderivationpathchallenge' as const

const Text = Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$' })
const Shown = Type.Object({ xpub: Text, script: Type.Optional(Text), key: Text, signature: Text })

/** The part of the protocol by which Strongroom derives addresses itself. Optional for a wallet service. */
export const accountKeys: Category = {
  name: 'account-keys',
  title: 'Keys of accounts (optional)',
  checks: [
    {
      id: 'account-keys.signed',
      title: 'GET /xpub answers the key of the account, signed with the challenge',
      section,
      rule: 'The signature is Ed25519 over five lines',
      advice: 'Sign the five lines, or six with a script, without a line break at the end, with the key that you show.',
      async run(wallet) {
        const { key, answer, walletKey } = await show(wallet)
        const fault = faultOfAccountKey(key, walletKey)
        expectThat(fault === null, String(fault), answer)
      },
    },
    {
      id: 'account-keys.same',
      title: 'A later answer has the same key and the same signer',
      section,
      rule: 'The same client and path always get the same xpub, signed by the same key',
      advice: 'Derive the key that signs from the secret that the client’s keys are derived from.',
      async run(wallet) {
        const [first, second] = [await show(wallet), await show(wallet)]
        expectThat(first.key.xpub === second.key.xpub, 'two answers have different keys', first.answer, second.answer)
        expectThat(
          first.walletKey === second.walletKey,
          'two answers have different signers',
          first.answer,
          second.answer,
        )
        const next = await show(wallet, { account: wallet.options.account + 1 })
        expectThat(next.walletKey === first.walletKey, 'another account has another signer', first.answer, next.answer)
        expectThat(next.key.xpub !== first.key.xpub, 'another account has the same key', first.answer, next.answer)
      },
    },
    {
      id: 'account-keys.addresses',
      title: 'The addresses of POST /addresses follow from the key',
      section,
      rule: 'Every address of POST /addresses below the account follows from it by BIP-32',
      advice: 'Derive the levels after the account without hardening, from the key that you show.',
      needs: ['evm'],
      async run(wallet) {
        const { key, answer } = await show(wallet)
        for (const name of ['account-keys.addresses', 'sender', 'recipient']) {
          const { derivationPath, address } = await wallet.addressOf(name)
          const derived = evmAddressBelow(key, derivationPath)
          expectThat(derived === address.toLowerCase(), `${derivationPath} is ${address}, not ${derived}`, answer)
        }
      },
    },
    {
      id: 'account-keys.clients',
      title: 'Two clients have different keys and different signers',
      section,
      rule: 'Two clients have different ones',
      advice: 'Give each client a secret of its own.',
      needs: ['otherClient'],
      async run(wallet) {
        const [main, other] = [await show(wallet), await show(wallet, { client: 'other' })]
        expectThat(main.key.xpub !== other.key.xpub, 'they have the same key', main.answer, other.answer)
        expectThat(main.walletKey !== other.walletKey, 'they have the same signer', main.answer, other.answer)
      },
    },
    {
      id: 'account-keys.form',
      title: 'A path that is not one of an account, an unknown network or a missing challenge is a 400',
      section,
      rule: 'the path has one number after the coin type',
      advice: 'Show keys of accounts only: those further up would show all accounts at once.',
      async run(wallet) {
        await show(wallet)
        const { coinType, account, network } = wallet.options
        const path = `m/44/${coinType}/${account}`
        const paths = [`${path}/0`, `m/44/${coinType}`, 'm/44', 'm', `m/44'/${coinType}'/${account}'`, `${path}h`, '']
        for (const derivationPath of paths) {
          expectStatus(await ask(wallet, { network, derivationPath, challenge: newChallenge() }), 400, derivationPath)
        }
        const unknown = { network: 'no-such-network', derivationPath: path, challenge: newChallenge() }
        expectStatus(await ask(wallet, unknown), 400, 'an unknown network')
        expectStatus(await ask(wallet, { network, derivationPath: path }), 400, 'without a challenge')
      },
    },
  ],
}

const newChallenge = () => randomBytes(32).toString('base64url')

function ask({ call }: WalletUnderTest, query: Record<string, string>, client: Client = 'main'): Promise<Answer> {
  return call('GET', `/xpub?${new URLSearchParams(query)}`, { client })
}

/** @throws Blocked when the wallet service does not offer it */
export async function show(
  wallet: WalletUnderTest,
  { account = wallet.options.account, client = 'main' }: { account?: number; client?: Client } = {},
): Promise<{ key: AccountKey; walletKey: string; answer: Answer }> {
  const { network, coinType } = wallet.options
  const question = { network, derivationPath: `m/44/${coinType}/${account}`, challenge: newChallenge() }
  const answer = await ask(wallet, question, client)
  if ([404, 405, 501].includes(answer.status)) throw new Blocked('The wallet service does not offer GET /xpub')
  const { key: walletKey, ...shown }: Static<typeof Shown> = expectAnswer(answer, 200, Shown)
  return { key: { ...question, ...shown }, walletKey, answer }
}
