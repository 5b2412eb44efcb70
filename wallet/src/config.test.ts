import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDoctorConfig, readWalletConfig } from './config.ts'

const right = {
  DATABASE_URL: 'postgres://wallet:a-database-password@127.0.0.1/wallet',
  WALLET_PASSPHRASE: 'a long passphrase',
  WALLET_CHAINS:
    '{"ethereum": {"rpcUrl": "http://127.0.0.1:8545", "chainId": 31337, "confirmations": 2, "pollMilliseconds": 500}}',
  WEBHOOK_URL: 'http://127.0.0.1:3000/webhooks/wallet',
  WEBHOOK_SECRET: 'x'.repeat(24),
}

const faultsOf = (changes: Record<string, string | undefined>) => {
  try {
    readWalletConfig({ ...right, ...changes })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('valid settings are read, and omitted settings have safe defaults', () => {
  expect(readWalletConfig(right)).toEqual({
    databaseUrl: right.DATABASE_URL,
    passphrase: right.WALLET_PASSPHRASE,
    logLevel: 'info',
    port: 0,
    host: '127.0.0.1',
    chains: { ethereum: { rpcUrl: 'http://127.0.0.1:8545', chainId: 31337, confirmations: 2, pollMilliseconds: 500 } },
    webhookUrl: right.WEBHOOK_URL,
    webhookSecret: right.WEBHOOK_SECRET,
    clients: [],
  })
})

test('every fault is named in one message, which is one line', () => {
  const message = faultsOf({
    DATABASE_URL: undefined,
    WALLET_PASSPHRASE: 'short',
    WALLET_CHAINS: '{"Ethereum": {"rpcUrl": "ftp://x", "chainId": "1", "confirmations": 0, "poll": 5}}',
    WEBHOOK_URL: 'javascript:alert(1)',
    WEBHOOK_SECRET: 'tiny',
    PORT: '70000',
    LOG_LEVEL: 'loud',
    WALLET_CLIENTS: '[{"name": "", "token": "tiny-token"}]',
  })
  for (const fault of [
    'DATABASE_URL is required',
    'WALLET_PASSPHRASE must have at least 12 characters',
    'WALLET_CHAINS.Ethereum: a network name',
    'WALLET_CHAINS.Ethereum.rpcUrl',
    'WALLET_CHAINS.Ethereum.chainId',
    'WALLET_CHAINS.Ethereum.confirmations',
    'WALLET_CHAINS.Ethereum.poll is not a setting',
    'WEBHOOK_URL must be',
    'WEBHOOK_SECRET must have at least 24 bytes',
    'PORT must be',
    'LOG_LEVEL must be',
    'WALLET_CLIENTS.0.name',
    'WALLET_CLIENTS.0.token',
  ]) {
    expect(message).toContain(fault)
  }
  expect(message).not.toContain('\n')
})

test('a deposit is watched at least until it counts', () => {
  const chain = { rpcUrl: 'http://127.0.0.1:8545', chainId: 31337, confirmations: 20 }
  const watching = (watchDepth: unknown) => ({ WALLET_CHAINS: JSON.stringify({ ethereum: { ...chain, watchDepth } }) })
  expect(readWalletConfig({ ...right, ...watching(20) }).chains.ethereum).toMatchObject({ watchDepth: 20 })
  for (const wrong of [19, 100_001, '20', null]) {
    expect(faultsOf(watching(wrong))).toContain('WALLET_CHAINS.ethereum.watchDepth must be a whole number from 20')
  }
})

test('a network of a family that this release does not support is refused', () => {
  const chain = { rpcUrl: 'http://127.0.0.1:8545', chainId: 1 }
  const typed = (type: unknown) => ({ WALLET_CHAINS: JSON.stringify({ coins: { ...chain, type } }) })
  expect(faultsOf(typed('solana'))).toContain(
    'WALLET_CHAINS.coins.type: this release pays on networks of the types evm, bitcoin and litecoin only',
  )
  expect(faultsOf(typed('dogecoin'))).toContain('WALLET_CHAINS.coins.type must be evm')
  expect(readWalletConfig({ ...right, ...typed('evm') }).chains.coins).toMatchObject({ chainId: 1 })
})

test('Bitcoin and Litecoin need a node, and have rates and limits of their own by default', () => {
  const utxo = (settings: object) => ({ WALLET_CHAINS: JSON.stringify({ coins: settings }) })
  const rpcUrl = 'http://user:a-password@127.0.0.1:8332'
  expect(readWalletConfig({ ...right, ...utxo({ type: 'bitcoin', rpcUrl }) }).chains.coins).toEqual({
    type: 'bitcoin',
    rpcUrl,
    confirmations: 6,
    pollMilliseconds: 4000,
    feeRates: { low: 2_000n, medium: 8_000n, high: 20_000n },
    feeRateMax: 500_000n,
    spendMin: 10_000n,
  })
  const all = {
    genesis: '0'.repeat(64),
    feeRates: { low: 1_000, medium: 1_000, high: 9_000 },
    feeRateMax: 9_000,
    spendMin: 0,
    replacement: 'fee',
    confirmations: 3,
    watchDepth: 200,
  }
  expect(readWalletConfig({ ...right, ...utxo({ type: 'litecoin', rpcUrl, ...all }) }).chains.coins).toEqual({
    type: 'litecoin',
    rpcUrl,
    ...all,
    pollMilliseconds: 4000,
    feeRates: { low: 1_000n, medium: 1_000n, high: 9_000n },
    feeRateMax: 9_000n,
    spendMin: 0n,
  })
  const wrong: [object, string][] = [
    [{ rpcUrl: 'ws://127.0.0.1:8332' }, 'rpcUrl must be an http or https URL'],
    [{ chainId: 1 }, 'chainId is not a setting'],
    [{ genesis: 'F'.repeat(64) }, 'genesis must be a hash'],
    [{ feeRates: { low: 1_000, medium: 2_000 } }, 'feeRates must have low, medium and high'],
    [{ feeRates: { low: 2_000, medium: 1_000, high: 3_000 } }, 'feeRates must have low, medium and high'],
    [{ feeRates: { low: 1_000, medium: 2_000, high: 500_001 } }, 'feeRates must have low, medium and high'],
    [{ feeRates: { low: 1_000.5, medium: 2_000, high: 3_000 } }, 'feeRates must have low, medium and high'],
    [{ feeRateMax: 999 }, 'feeRateMax must be a whole number from 1000'],
    [{ spendMin: -1 }, 'spendMin must be a whole number from 0'],
    [{ replacement: 'none' }, 'replacement must be fee or child'],
    [{ confirmations: 0 }, 'confirmations must be a whole number'],
  ]
  for (const [settings, fault] of wrong)
    expect(faultsOf(utxo({ type: 'bitcoin', rpcUrl, ...settings }))).toContain(`WALLET_CHAINS.coins.${fault}`)
  expect(faultsOf(utxo({ type: 'bitcoin', rpcUrl, spendMin: -1 }))).not.toContain('a-password')
})

test('no fault repeats a secret', () => {
  const message = faultsOf({
    WALLET_PASSPHRASE: 'hush-hush',
    WEBHOOK_SECRET: 'hush-hush',
    WALLET_CLIENTS: '[{"name": "a", "token": "hush-hush"}]',
  })
  expect(message).not.toContain('hush-hush')
})

test('T14 an empty or short webhook secret refuses to start, also behind whsec_', () => {
  expect(faultsOf({ WEBHOOK_SECRET: '' })).toContain('WEBHOOK_SECRET is required')
  expect(faultsOf({ WEBHOOK_SECRET: `whsec_${Buffer.from('short').toString('base64')}` })).toContain(
    'at least 24 bytes',
  )
  expect(faultsOf({ WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 1).toString('base64')}` })).toBe('')
})

test('clients must differ in name and token', () => {
  const token = 'y'.repeat(24)
  const clients = JSON.stringify([
    { name: 'a', token },
    { name: 'a', token },
  ])
  expect(faultsOf({ WALLET_CLIENTS: clients })).toContain(
    'names a client twice; WALLET_CLIENTS gives two clients the same token',
  )
})

test('the page for signatures has a host of its own, and is off unless both origins are named', () => {
  const signing = (origin: string, consoleOrigin = 'https://vault.example.org') =>
    faultsOf({ WALLET_SIGNING_ORIGIN: origin, WALLET_CONSOLE_ORIGIN: consoleOrigin })
  expect(readWalletConfig(right).signing).toBeUndefined()
  expect(signing('https://sign.example.org')).toBe('')
  expect(signing('http://sign.localhost:4000', 'http://localhost:8420')).toBe('')
  expect(signing('https://sign.example.org', '')).toContain('WALLET_CONSOLE_ORIGIN is required')
  expect(signing('', 'https://vault.example.org')).toContain('WALLET_SIGNING_ORIGIN is required')
  expect(signing('https://vault.example.org:8443')).toContain('must have another host')
  expect(signing('https://example.org')).toContain('must have another host')
  expect(signing('https://sign.vault.example.org')).toBe('')
  for (const wrong of [
    'http://sign.example.org',
    'https://sign.example.org/',
    'https://10.0.0.1',
    'https://[::1]',
    'sign',
  ])
    expect(signing(wrong)).toContain('WALLET_SIGNING_ORIGIN must be an origin')
})

test('T81 mail is off without SMTP_URL, and sent with TLS except on this machine', () => {
  expect(readWalletConfig({ ...right, MAIL_FROM: 'wallet@example.org' }).mail).toBeUndefined()
  const mailOf = (SMTP_URL: string) => readWalletConfig({ ...right, SMTP_URL, MAIL_FROM: 'wallet@example.org' }).mail
  expect(mailOf('smtp://user:word@mail.example.org')).toEqual({
    smtpUrl: 'smtp://user:word@mail.example.org',
    requiresTls: true,
    from: 'wallet@example.org',
  })
  expect(mailOf('smtp://127.0.0.1:25')?.requiresTls).toBe(false)
  expect(mailOf('smtp://127.example.org')?.requiresTls).toBe(true)
  for (const parameter of ['ignoreTLS=true', 'requireTLS=false', 'secure=false', 'tls.rejectUnauthorized=false']) {
    expect(faultsOf({ SMTP_URL: `smtps://mail.example.org?${parameter}`, MAIL_FROM: 'w@example.org' })).toContain(
      'SMTP_URL must have no parameters',
    )
  }
  const secret = faultsOf({ SMTP_URL: 'http://user:hunter2hunter2@mail.example.org' })
  expect(secret).toContain('SMTP_URL must begin with smtp:// or smtps://')
  expect(secret).not.toContain('hunter2')
})

test('secrets are read from the files that NAME_FILE names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-wallet-settings-'))
  const names = ['DATABASE_URL', 'WALLET_PASSPHRASE', 'WALLET_CHAINS', 'WEBHOOK_SECRET'] as const
  const inFiles: Record<string, string | undefined> = { ...right }
  for (const name of names) {
    writeFileSync(join(folder, name), `${right[name]}\n`)
    delete inFiles[name]
    inFiles[`${name}_FILE`] = join(folder, name)
  }
  expect(readWalletConfig(inFiles)).toEqual(readWalletConfig(right))
  const SERVICE_DATABASE_URL_FILE = join(folder, 'DATABASE_URL')
  expect(readDoctorConfig({ ...inFiles, SERVICE_DATABASE_URL_FILE }).serviceDatabaseUrl).toBe(right.DATABASE_URL)
  expect(readDoctorConfig(inFiles).serviceDatabaseUrl).toBeUndefined()
  const both = faultsOf({ WEBHOOK_SECRET_FILE: join(folder, 'WEBHOOK_SECRET') })
  expect(both).toBe('wrong settings: WEBHOOK_SECRET and WEBHOOK_SECRET_FILE are set; use one of them')
  const missing = faultsOf({ WEBHOOK_SECRET: undefined, WEBHOOK_SECRET_FILE: join(folder, 'none') })
  expect(missing).toContain('WEBHOOK_SECRET_FILE names a file that cannot be read (ENOENT)')
  writeFileSync(join(folder, 'empty'), '\n')
  const empty = faultsOf({ WEBHOOK_SECRET: undefined, WEBHOOK_SECRET_FILE: join(folder, 'empty') })
  expect(empty).toContain('WEBHOOK_SECRET_FILE names a file that is empty')
  rmSync(folder, { recursive: true })
})

test('DATABASE_CA trusts one authority, for a database on another machine', () => {
  const DATABASE_CA = '/etc/strongroom/ca.pem'
  const databaseOf = (DATABASE_URL: string) => readWalletConfig({ ...right, DATABASE_URL, DATABASE_CA }).databaseUrl
  expect(databaseOf('postgresql://wallet:secret@db.internal/wallet?sslmode=require')).toBe(
    'postgresql://wallet:secret@db.internal/wallet?sslmode=verify-full&sslrootcert=%2Fetc%2Fstrongroom%2Fca.pem',
  )
  expect(databaseOf(right.DATABASE_URL)).toBe(right.DATABASE_URL)
  expect(databaseOf('postgresql://wallet@first:5432,second:5432/wallet')).toBe(
    'postgresql://wallet@first:5432,second:5432/wallet?sslmode=verify-full&sslrootcert=%2Fetc%2Fstrongroom%2Fca.pem',
  )
  expect(faultsOf({ DATABASE_CA: 'ca.pem' })).toContain('DATABASE_CA must be an absolute path')
})

test('T81 mails of a server on another machine have a sender of their own', () => {
  expect(faultsOf({ SMTP_URL: 'smtps://mail.example.org' })).toContain('MAIL_FROM is required')
  expect(readWalletConfig({ ...right, SMTP_URL: 'smtp://127.0.0.1:25' }).mail?.from).toContain('@localhost')
})
