import { readdir, readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { readConfig, readSecretKeys } from '../server/src/config/config.ts'
import { settings as ofServer, type Setting } from '../server/src/config/settings.ts'
import { readDoctorConfig, readPassphraseChange, readWalletConfig } from '../wallet/src/config.ts'
import { settings as ofWallet } from '../wallet/src/settings.ts'

const page = new URL('../docs/settings.md', import.meta.url)

const begin = `# Settings

<!-- tidy: long because it lists every setting -->

Made from the code by \`npm run settings\`; a test compares them. A setting is a variable of the environment. \`strongroom config\`
prints those of the service with their present values.

A **secret** may stand in a file: \`SMTP_URL_FILE=/run/secrets/smtp-url\` in place of \`SMTP_URL\`. The file holds the value alone, and
a line break at its end does not count. A secret that is set both ways stops the start.
`

const render = (title: string, settings: Setting[]) => [`## ${title}`, ...settings.map(describeSetting)].join('\n\n')

function describeSetting({ name, about, fallback, example, isSecret }: Setting): string {
  const facts = [
    ...(isSecret === true ? [`- **Secret**: \`${name}_FILE\` may name a file with it.`] : []),
    `- Default: ${fallback === '' ? 'none' : `\`${fallback}\``}`,
    `- Example: \`${name}=${example}\``,
  ]
  return [`### ${name}`, `${wrap(`${about[0]!.toUpperCase()}${about.slice(1)}.`)}`, facts.join('\n')].join('\n\n')
}

const wrap = (text: string) => text.replace(/(.{1,130})(\s+|$)/g, '$1\n').trimEnd()

it('docs/settings.md names each setting of the service and of the wallet service as the code has it', async () => {
  const parts = [begin.trimEnd(), render('The service', ofServer), render('The reference wallet service', ofWallet)]
  const text = `${parts.join('\n\n')}\n`
  if (process.env.WRITE_SETTINGS === 'yes') await writeFile(page, text)
  expect(await readFile(page, 'utf8')).toBe(text)
})

const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
/** The examples as an operator would set them: with random secrets, and without what only a command reads. */
function examples(settings: Setting[], without: string[]): Record<string, string> {
  const named = settings.filter(({ name }) => !without.includes(name))
  return Object.fromEntries(
    named.map(({ name, example }) => [
      name,
      example
        .replace(/^what openssl .* prints$/, random)
        .replace(/what openssl rand -hex 32 prints.*no spaces/, random),
    ]),
  )
}

it('the examples of the service are right settings together', async () => {
  const env = examples(ofServer, ['STRONGROOM_SECRET_KEY_PREVIOUS', 'DATABASE_CA'])
  expect(readConfig(env)).toMatchObject({ demo: false, warnings: [], mailFrom: 'Strongroom <strongroom@example.org>' })
  await expect(
    readSecretKeys(undefined, { STRONGROOM_SECRET_KEY: random(), STRONGROOM_SECRET_KEY_PREVIOUS: 'as it was' }),
  ).resolves.toMatchObject({ previous: 'as it was' })
})

it('the examples of the wallet service are right settings together', async () => {
  const env = examples(ofWallet, [])
  expect(readWalletConfig(env)).toMatchObject({ port: 9000, signing: { origin: 'https://sign.example.org' } })
  expect(readDoctorConfig(env).serviceDatabaseUrl).toBe(env.SERVICE_DATABASE_URL)
  expect((await readPassphraseChange(undefined, env)).previous).toBe(env.WALLET_PASSPHRASE_PREVIOUS)
})

it('each setting that the code reads is listed, and each that is listed is read', async () => {
  const read = async (files: string[], pattern: RegExp) => {
    const texts = await Promise.all(files.map((file) => readFile(new URL(file, import.meta.url), 'utf8')))
    return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!))
  }
  const folder = '../server/src/config/'
  const ofConfig = (await readdir(new URL(folder, import.meta.url))).filter((name) => /(?<!\.test)\.ts$/.test(name))
  const byServer = await read(
    ofConfig.map((name) => folder + name),
    /\b(?:text|flag|onOff|integer|url|list|read)\(\s*'([A-Z][A-Z_]+)'/g,
  )
  expect([...new Set(byServer)].sort()).toEqual(ofServer.map(({ name }) => name).sort())
  const byWallet = await read(
    ['config', 'mails/settings', 'signing/settings'].map((name) => `../wallet/src/${name}.ts`),
    /(?:\benvironment\.|\{ |, )([A-Z][A-Z]+_?[A-Z_]*)\b(?=[:,; )|]| \})/g,
  )
  const listed = ofWallet.map(({ name }) => name)
  expect([...new Set(byWallet)].sort()).toEqual(listed.sort())
})
