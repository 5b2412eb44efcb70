import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ConfigError, describeSettings, readCommandConfig, readConfig, readMailConfig, settings } from './config.ts'

const production = {
  PUBLIC_URL: 'https://vault.example.org',
  STRONGROOM_SECRET_KEY: randomBytes(32).toString('base64'),
  SMTP_URL: 'smtps://user:hunter2hunter2@mail.example.org',
  MAIL_FROM: 'Strongroom <strongroom@example.org>',
  WALLET_WEBHOOK_SECRET: randomBytes(24).toString('base64'),
  DATABASE_URL: 'postgresql://app:hunter2hunter2@db.example.org/strongroom?sslmode=verify-full',
}

describe('settings', () => {
  it('need nothing in demo mode', () => {
    expect(readConfig({ DEMO: 'true' })).toMatchObject({
      port: 8420,
      host: '127.0.0.1',
      publicUrl: null,
      dataDir: '../.strongroom',
      databaseUrl: null,
      demo: true,
      webhookSecrets: [],
      approvalTtlHours: 72,
      sessionTtlDays: 7,
      rateJumpFactorHundredths: 200,
      rateLimitPerMinute: 0,
      trustProxy: false,
      logLevel: 'info',
    })
  })

  it('are read outside demo mode when all required settings are present', () => {
    const secrets = [randomBytes(18).toString('base64'), randomBytes(24).toString('hex')]
    const config = readConfig({
      ...production,
      WALLET_WEBHOOK_SECRET: ` ${secrets[0]} , ${secrets[1]} `,
      WALLET_ALLOWED_HOSTS: '10.0.0.7:9000, wallet.internal',
      STRONGROOM_ADMIN_EMAIL: 'Treasurer@Example.org',
      PORT: '0',
    })
    expect(config.webhookSecrets).toEqual(secrets)
    expect(config).toMatchObject({ smtpRequiresTls: true, allowedRisks: [] })
    expect(config.walletAllowedHosts).toEqual(['10.0.0.7:9000', 'wallet.internal'])
    expect(config).toMatchObject({
      demo: false,
      adminEmail: 'treasurer@example.org',
      port: 0,
      rateLimitPerMinute: 3_000,
    })
  })

  it('that are required outside demo mode are all named at once', () => {
    expect(faultsOf({})).toEqual([
      'PUBLIC_URL is required outside demo mode',
      'WALLET_WEBHOOK_SECRET is required outside demo mode',
      'STRONGROOM_SECRET_KEY is required outside demo mode',
      'SMTP_URL is required outside demo mode',
      'MAIL_FROM is required outside demo mode',
    ])
  })

  it('that are wrong are all named at once', () => {
    const faults = faultsOf({
      DEMO: 'maybe',
      PORT: '70000',
      HOST: 'example.org',
      PUBLIC_URL: 'https://example.org/path',
      DATABASE_URL: 'mysql://x',
      STRONGROOM_ADMIN_EMAIL: 'nobody',
      STRONGROOM_SECRET_KEY: 'short',
      STRONGROOM_SECRET_KEY_PREVIOUS: 'left over',
      SMTP_URL: 'http://mail',
      MAIL_FROM: 'strongroom',
      DATABASE_CA: '/nowhere/ca.pem',
      DATABASE_WAIT_SECONDS: '601',
      WALLET_WEBHOOK_SECRET: 'short',
      APPROVAL_TTL_HOURS: '0',
      SESSION_TTL_DAYS: '31',
      RATES_URL: 'ftp://rates.example.org',
      RATE_JUMP_FACTOR: '1',
      RATE_LIMIT_PER_MINUTE: '1.5',
      TRUST_PROXY: 'yes',
      LOG_LEVEL: 'loud',
    })
    for (const name of [
      'DEMO',
      'PORT',
      'HOST',
      'PUBLIC_URL',
      'DATABASE_URL',
      'STRONGROOM_ADMIN_EMAIL',
      'STRONGROOM_SECRET_KEY',
      'STRONGROOM_SECRET_KEY_PREVIOUS',
      'SMTP_URL',
      'MAIL_FROM',
      'DATABASE_CA',
      'DATABASE_WAIT_SECONDS',
      'WALLET_WEBHOOK_SECRET',
      'APPROVAL_TTL_HOURS',
      'SESSION_TTL_DAYS',
      'RATES_URL',
      'RATE_JUMP_FACTOR',
      'RATE_LIMIT_PER_MINUTE',
      'TRUST_PROXY',
      'LOG_LEVEL',
    ]) {
      expect(
        faults.filter((fault) => fault.startsWith(`${name} `)),
        name,
      ).toHaveLength(1)
    }
  })

  it('T77 witnesses are files, mailboxes and safe URLs, and documents that are posted to them are signed', () => {
    const WITNESS_SECRET = randomBytes(24).toString('base64')
    const WITNESSES = 'file:/mnt/heads, mailto:auditor@example.org, https://witness.example.org/heads'
    const on = { ...production, WITNESSES, WITNESS_SECRET }
    expect(readConfig(production)).toMatchObject({ witnesses: { targets: [], everyHours: 1 }, sealKeys: [] })
    expect(readConfig(on).witnesses).toEqual({
      targets: [
        { kind: 'file', target: 'file:/mnt/heads', path: '/mnt/heads' },
        { kind: 'mailto', target: 'mailto:auditor@example.org', address: 'auditor@example.org' },
        { kind: 'https', target: 'https://witness.example.org/heads', url: 'https://witness.example.org/heads' },
      ],
      secrets: [WITNESS_SECRET],
      everyHours: 1,
    })
    expect(readConfig({ ...production, SEAL_KEYS: 'a'.repeat(32) }).sealKeys).toEqual(['a'.repeat(32)])
    const faulty: Record<string, string>[] = [
      { WITNESSES: 'heads.txt' },
      { WITNESSES: 'file://server/heads' },
      { WITNESSES: 'file:/mnt/folder/' },
      { WITNESSES: 'mailto:a@example.org?cc=b@example.org' },
      { WITNESSES: 'mailto:%' },
      { WITNESSES: 'mailto:%E0%A4@example.org' },
      { WITNESSES: 'file:/mnt/heads%2Fa' },
      { WITNESSES: 'http://witness.example.org', WITNESS_SECRET },
      { WITNESSES: 'https://user:pass@witness.example.org', WITNESS_SECRET },
      { WITNESSES: 'https://witness.example.org' },
      { WITNESS_SECRET },
      { WITNESSES, WITNESS_SECRET: production.WALLET_WEBHOOK_SECRET },
      { WITNESSES, WITNESS_SECRET: 'short' },
      { WITNESS_EVERY_HOURS: '0' },
      { SEAL_KEYS: 'x' },
    ]
    for (const env of faulty) {
      const faults = faultsOf({ ...production, ...env })
      expect(faults.length, JSON.stringify(env)).toBeGreaterThan(0)
      for (const fault of faults) expect(fault).toMatch(/^(WITNESS|SEAL_KEYS)/)
    }
  })

  it('T73 screening is off, or on with a secret of its own over a safe connection', () => {
    const [SCREENING_SECRET, other] = [randomBytes(24).toString('base64'), randomBytes(24).toString('base64')]
    const on = { ...production, SCREENING_URL: 'https://screen.example.org/v1', SCREENING_SECRET }
    expect(readConfig(production).screening).toBeNull()
    expect(readConfig({ ...on, SCREENING_SECRET: `${SCREENING_SECRET},${other}` }).screening).toEqual({
      url: 'https://screen.example.org/v1',
      secrets: [SCREENING_SECRET, other],
    })
    expect(readConfig({ ...on, SCREENING_URL: 'http://127.0.0.1:9000' }).screening?.url).toBe('http://127.0.0.1:9000')
    const faulty = (env: object) => faultsOf({ ...on, ...env })
    expect(faulty({ SCREENING_SECRET: '' })).toEqual(['SCREENING_SECRET is required with SCREENING_URL'])
    expect(faulty({ SCREENING_SECRET: ',' })).toEqual(['SCREENING_SECRET is required with SCREENING_URL'])
    expect(faulty({ SCREENING_URL: '' })).toEqual(['SCREENING_SECRET is set, and SCREENING_URL is not'])
    for (const env of [
      { SCREENING_SECRET: 'short' },
      { SCREENING_SECRET: production.WALLET_WEBHOOK_SECRET },
      { SCREENING_URL: 'http://screen.example.org' },
      { SCREENING_URL: 'ftp://screen.example.org' },
      { SCREENING_URL: 'https://user:pass@screen.example.org' },
    ])
      expect(faulty(env), JSON.stringify(env)).toEqual([expect.stringMatching(/^SCREENING_/)])
  })

  it.each(['', '   ', ',', ' , '])('T14 the webhook secret %j refuses to start outside demo mode', (secret) => {
    expect(faultsOf({ ...production, WALLET_WEBHOOK_SECRET: secret })).toEqual([
      expect.stringMatching(/^WALLET_WEBHOOK_SECRET /),
    ])
  })

  it.each(['w'.repeat(23), `${production.WALLET_WEBHOOK_SECRET},short`, `short,${production.WALLET_WEBHOOK_SECRET}`])(
    'T14 the short webhook secret %j refuses to start, in demo mode too',
    (secret) => {
      expect(faultsOf({ ...production, WALLET_WEBHOOK_SECRET: secret })).toHaveLength(1)
      expect(faultsOf({ DEMO: 'true', WALLET_WEBHOOK_SECRET: secret })).toHaveLength(1)
    },
  )

  const unsafe = [
    ['public-url', 'PUBLIC_URL', 'http://vault.example.org'],
    ['public-url', 'PUBLIC_URL', 'http://10.0.0.5:8420'],
    ['secrets', 'STRONGROOM_SECRET_KEY', 'k'.repeat(32)],
    ['secrets', 'STRONGROOM_SECRET_KEY', 'changeme-changeme-changeme-changeme'],
    ['secrets', 'WALLET_WEBHOOK_SECRET', `${production.WALLET_WEBHOOK_SECRET},${'w'.repeat(24)}`],
    ['secrets', 'METRICS_TOKEN', 'metrics-metrics-metrics-metrics'],
    ['smtp', 'SMTP_URL', 'smtp://mail.example.org?ignoreTLS=true'],
    ['smtp', 'SMTP_URL', 'smtp://mail.example.org?requireTLS=false'],
    ['smtp', 'SMTP_URL', 'smtps://mail.example.org?secure=false'],
    ['smtp', 'SMTP_URL', 'smtps://mail.example.org?tls.rejectUnauthorized=false'],
  ] as const

  it.each(unsafe)(
    'T70 that are unsafe (%s: %s=%s) stop the start, unless they are allowed by name',
    (risk, name, value) => {
      const [fault, ...more] = faultsOf({ ...production, [name]: value })
      expect(more).toEqual([])
      expect(fault).toMatch(new RegExp(`^${name} .*\\(ALLOW_INSECURE=${risk} accepts it\\)$`))
      for (const other of ['public-url', 'secrets', 'smtp'].filter((name) => name !== risk)) {
        expect(faultsOf({ ...production, [name]: value, ALLOW_INSECURE: other })).toEqual([fault])
      }
      const allowed = readConfig({ ...production, [name]: value, ALLOW_INSECURE: risk })
      expect(allowed.allowedRisks).toEqual([expect.stringMatching(new RegExp(`^${name} `))])
      expect(readConfig({ DEMO: 'true', [name]: value }).allowedRisks).toEqual([])
    },
  )

  it('T70 that are unsafe are all named at once, and may be allowed together', () => {
    const bad = { ...production, PUBLIC_URL: 'http://vault.example.org', STRONGROOM_SECRET_KEY: 'k'.repeat(32) }
    expect(faultsOf(bad)).toHaveLength(2)
    expect(readConfig({ ...bad, ALLOW_INSECURE: 'secrets, public-url' }).allowedRisks).toHaveLength(2)
    expect(faultsOf({ ...production, ALLOW_INSECURE: 'everything' })).toEqual([
      'ALLOW_INSECURE may name public-url, secrets, smtp, not "everything"',
    ])
  })

  it.each([
    ['smtp://mail.example.org', {}, true],
    ['smtp://mail.example.org?requireTLS=true&tls.servername=mail', {}, true],
    ['smtp://mail.example.org', { ALLOW_INSECURE: 'smtp' }, false],
    ['smtp://localhost:2525', {}, false],
    ['smtp://127.0.0.1:2525', {}, false],
  ])('T70 want mail to %s with %j encrypted: %s', (SMTP_URL, more, requires) => {
    expect(readConfig({ ...production, SMTP_URL, ...more }).smtpRequiresTls).toBe(requires)
  })

  it.each(['http://localhost:8420', 'http://127.0.0.1:8420', 'http://[::1]:8420'])(
    'T70 may name %s, which never leaves this machine',
    (PUBLIC_URL) => {
      expect(readConfig({ ...production, PUBLIC_URL }).allowedRisks).toEqual([])
    },
  )

  it.each(['http://rates.example.org', 'file:///var/rates.json'])(
    'T70 rates from %s refuse to start outside demo mode, where anybody on the way could set them',
    (ratesUrl) => {
      expect(faultsOf({ ...production, RATES_URL: ratesUrl })).toEqual([
        'RATES_URL must be a URL that begins with https://',
      ])
      expect(readConfig({ DEMO: 'true', RATES_URL: ratesUrl }).ratesUrl).toBe(ratesUrl)
    },
  )

  it.each([
    ['2', 2],
    ['0', false],
    ['false', false],
    ['10.0.0.5, 10.1.0.0/16,fd00::/8', ['10.0.0.5', '10.1.0.0/16', 'fd00::/8']],
  ] as const)('T67 trust %s of the proxies in front', (value, trusted) => {
    expect(readConfig({ DEMO: 'true', TRUST_PROXY: value }).trustProxy).toEqual(trusted)
  })

  it.each(['true', 'yes', '-1', '11', '1.5', '0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.5,', 'proxy'])(
    'T67 do not trust %j, which would believe an address that the sender wrote',
    (value) => {
      const [fault, ...more] = faultsOf({ DEMO: 'true', TRUST_PROXY: value })
      expect(fault).toMatch(/^TRUST_PROXY must be the number of proxies .* or their addresses, such as 10\.0\.0\.5 /)
      expect(more).toEqual([])
    },
  )

  it.each([
    ['2', 200],
    ['1.01', 101],
    ['1.1', 110],
    ['999.99', 99_999],
  ])('T64 the factor %s of a jump is read exactly', (factor, hundredths) => {
    expect(readConfig({ DEMO: 'true', RATE_JUMP_FACTOR: factor }).rateJumpFactorHundredths).toBe(hundredths)
  })

  it.each(['0', '1', '1.00', '0.5', '-2', '1000', '1.005', 'off', '1e1'])(
    'T64 the factor %s refuses to start',
    (factor) => {
      expect(faultsOf({ DEMO: 'true', RATE_JUMP_FACTOR: factor })).toHaveLength(1)
    },
  )

  it('that are secret are never printed', () => {
    const secret = 'hunter2-hunter2'
    for (const { name } of settings.filter((setting) => setting.isSecret)) {
      expect(faultsOf({ ...production, [name]: secret, PORT: 'x' }).join('\n')).not.toContain(secret)
      expect(JSON.stringify(describeSettings({ [name]: secret }))).not.toContain(secret)
    }
    expect(settings.filter((setting) => setting.isSecret).map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'DATABASE_OWNER_URL',
      'REPORTS_DATABASE_URL',
      'STRONGROOM_SECRET_KEY',
      'STRONGROOM_SECRET_KEY_PREVIOUS',
      'SMTP_URL',
      'WALLET_WEBHOOK_SECRET',
      'SCREENING_SECRET',
      'WITNESS_SECRET',
      'METRICS_TOKEN',
    ])
  })

  it('that are secret are read from files, and only one of both may be set', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-settings-'))
    const file = (name: string) => join(folder, name)
    const secrets = settings.filter(({ name, isSecret }) => isSecret && name in production).map(({ name }) => name)
    expect(secrets.sort()).toEqual(['DATABASE_URL', 'SMTP_URL', 'STRONGROOM_SECRET_KEY', 'WALLET_WEBHOOK_SECRET'])
    const env: Record<string, string> = { ...production }
    for (const name of secrets) {
      await writeFile(file(name), `${env[name]}\n`)
      delete env[name]
      env[`${name}_FILE`] = file(name)
    }
    expect(readConfig(env)).toEqual(readConfig(production))
    expect(readCommandConfig(env).databaseUrl).toBe(production.DATABASE_URL)
    expect(readMailConfig(env).smtpUrl).toBe(production.SMTP_URL)
    expect(describeSettings(env).find(({ name }) => name === 'SMTP_URL')?.value).toBe(
      `(in the file ${file('SMTP_URL')})`,
    )

    expect(faultsOf({ ...env, SMTP_URL: production.SMTP_URL })).toEqual([
      'SMTP_URL and SMTP_URL_FILE are set; use one of them',
    ])
    expect(faultsOf({ ...production, METRICS_TOKEN_FILE: file('none') })).toEqual([
      'METRICS_TOKEN_FILE names a file that cannot be read (ENOENT)',
    ])
    await writeFile(file('empty'), '\n')
    expect(faultsOf({ ...production, METRICS_TOKEN_FILE: file('empty') })).toEqual([
      'METRICS_TOKEN_FILE names a file that is empty',
    ])
    // Only secret settings are read from files.
    expect(readConfig({ ...production, PORT_FILE: file('SMTP_URL') }).port).toBe(8420)
    await rm(folder, { recursive: true })
  })

  it('keep the sender of mails as it is written', () => {
    for (const right of ['vault@example.org', 'Vault of Example <vault@example.org>', '<vault@example.org>'])
      expect(readConfig({ ...production, MAIL_FROM: right }).mailFrom).toBe(right)
    for (const wrong of ['vault', 'Vault <vault>', 'vault@example.org\nBcc: all@example.org', 'a@b <c'])
      expect(faultsOf({ ...production, MAIL_FROM: wrong })).toEqual([
        'MAIL_FROM must be an address such as Strongroom <strongroom@example.org>',
      ])
  })

  it('DATABASE_CA trusts one authority for every connection to another machine', async () => {
    const DATABASE_CA = fileURLToPath(import.meta.url)
    const remote = 'postgresql://app:hunter2hunter2@db.example.org/strongroom'
    const trusted = `${remote}?sslmode=verify-full&sslrootcert=${encodeURIComponent(DATABASE_CA)}`
    const local = 'postgresql://app@localhost/strongroom'
    const urls = { DATABASE_URL: remote, DATABASE_OWNER_URL: `${remote}?sslmode=require`, REPORTS_DATABASE_URL: local }
    expect(readConfig({ ...production, ...urls, DATABASE_CA })).toMatchObject({
      databaseUrl: trusted,
      databaseOwnerUrl: trusted,
      reportsDatabaseUrl: local,
      warnings: [],
    })
    expect(readCommandConfig({ DATABASE_URL: remote, DATABASE_CA }).databaseUrl).toBe(trusted)
  })

  it.each([
    ['db.example.org/strongroom', 1],
    ['127.0.0.1:5432,db.example.org:5432/strongroom', 1],
    ['db-1.example.org:5432,db-2.example.org:5432/strongroom?sslmode=verify-full', 0],
    ['db.example.org/strongroom?sslmode=disable', 1],
    ['db.example.org/strongroom?sslmode=require', 0],
    ['db.example.org/strongroom?ssl=true', 0],
    ['127.0.0.1/strongroom', 0],
    ['localhost/strongroom?host=/var/run/postgresql', 0],
  ])('a database at %s is warned of %i times', (place, count) => {
    const { warnings } = readConfig({ ...production, DATABASE_URL: `postgresql://app:hunter2hunter2@${place}` })
    expect(warnings).toHaveLength(count)
    for (const warning of warnings) {
      expect(warning).toMatch(/^DATABASE_URL leads to another machine without TLS/)
      expect(warning).not.toContain('hunter2')
    }
  })

  it('describe their present state', () => {
    const described = describeSettings({ PORT: '9000', SMTP_URL: production.SMTP_URL })
    expect(described.find(({ name }) => name === 'PORT')).toMatchObject({ fallback: '8420', value: '9000' })
    expect(described.find(({ name }) => name === 'SMTP_URL')?.value).toBe('(set, hidden)')
    expect(described.find(({ name }) => name === 'HOST')?.value).toBeNull()
  })

  it('of a command contain only those of the database, its keys and the address', () => {
    expect(readCommandConfig({ DATABASE_URL: production.DATABASE_URL }).databaseUrl).toBe(production.DATABASE_URL)
    expect(() => readCommandConfig({ DATABASE_URL: 'x' })).toThrow(ConfigError)
    // A command calls wallet services on this machine only where the node does.
    expect([readCommandConfig({}).demo, readCommandConfig({ DEMO: 'true' }).demo]).toEqual([false, true])
    expect(() => readCommandConfig({ DATABASE_OWNER_URL: production.DATABASE_URL })).toThrow('DATABASE_URL is not')
    expect(() => readConfig({ DEMO: 'true', REPORTS_DATABASE_URL: production.DATABASE_URL })).toThrow(
      'DATABASE_URL is not',
    )
  })
})

describe('the environment', () => {
  it('is read by config.ts only', async () => {
    const folder = new URL('..', import.meta.url)
    const names = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name))
    const readers: string[] = []
    for (const name of names.filter((file) => !file.startsWith('testing/'))) {
      if ((await readFile(new URL(name, folder), 'utf8')).includes('process.env')) readers.push(name)
    }
    // The programs of the embedded PostgreSQL inherit the environment as it is. The address and token of the service that
    // policies as code are applied to are not settings of this service.
    const others = ['embedded-postgres/programs.ts', 'policies-as-code/command.ts']
    expect(readers.sort()).toEqual(['config/config.ts', ...others])
  })
})

function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}
