/** A secret can be set in a file, which the setting `NAME_FILE` names. */
export type Setting = { name: string; about: string; fallback: string; example: string; isSecret?: true }

/** Every setting of `strongroom-wallet`. */
export const settings: Setting[] = [
  {
    name: 'DATABASE_URL',
    about:
      'PostgreSQL 15 to 18 of the wallet service alone, never that of the service; several hosts, separated by commas: the one ' +
      'that takes writes; required',
    fallback: '',
    example: 'postgresql://wallet:PASSWORD@wallet-db.internal/wallet?sslmode=verify-full',
    isSecret: true,
  },
  {
    name: 'DATABASE_CA',
    about:
      'file with the certificate of the authority that signed that of the database; connections to another machine then ' +
      'use TLS with sslmode=verify-full',
    fallback: '',
    example: '/etc/strongroom/wallet-database-ca.pem',
  },
  {
    name: 'WALLET_PASSPHRASE',
    about: 'at least 12 characters; opens the keys in the database; required',
    fallback: '',
    example: 'what openssl rand -base64 32 prints',
    isSecret: true,
  },
  {
    name: 'WALLET_PASSPHRASE_PREVIOUS',
    about: 'the passphrase before WALLET_PASSPHRASE; read by `strongroom-wallet passphrase` only',
    fallback: '',
    example: 'the passphrase that openssl printed before',
    isSecret: true,
  },
  { name: 'HOST', about: 'address to listen on', fallback: '127.0.0.1', example: '10.0.0.7' },
  { name: 'PORT', about: 'TCP port; 0 picks a free one', fallback: '0', example: '9000' },
  {
    name: 'WALLET_CHAINS',
    about:
      'JSON object with one entry for each network: rpcUrl and chainId, and as needed confirmations (12), pollMilliseconds ' +
      '(4000), startBlock, watchDepth and askAgainSeconds; or rpcUrl and the type bitcoin or litecoin, and as needed ' +
      'confirmations (6, 12), feeRates, feeRateMax, spendMin (10000), replacement, genesis and the same others; required by ' +
      '`serve`; secret, because an rpcUrl may hold a key',
    fallback: '',
    example:
      '{"ethereum": {"rpcUrl": "https://rpc.example.org", "chainId": 1}, ' +
      '"bitcoin": {"type": "bitcoin", "rpcUrl": "http://user:PASSWORD@10.0.0.8:8332"}}',
    isSecret: true,
  },
  {
    name: 'WEBHOOK_URL',
    about: 'where the service takes events, /webhooks/wallet of one of its nodes; required by `serve`',
    fallback: '',
    example: 'https://vault.example.org/webhooks/wallet',
  },
  {
    name: 'WEBHOOK_SECRET',
    about: 'signs events, at least 24 bytes: WALLET_WEBHOOK_SECRET of the service; required by `serve`',
    fallback: '',
    example: 'what openssl rand -base64 32 prints',
    isSecret: true,
  },
  {
    name: 'WALLET_CLIENTS',
    about: 'JSON array of {"name", "token"}, made at the start; `strongroom-wallet client add` makes one without it',
    fallback: '',
    example: '[{"name": "treasury", "token": "what openssl rand -hex 32 prints, it has no spaces"}]',
    isSecret: true,
  },
  {
    name: 'AUTHORITY_DIR',
    about: 'absolute path of the folder that holds the authorities of protected clients, apart from the database',
    fallback: '',
    example: '/var/lib/strongroom-wallet/authorities',
  },
  {
    name: 'WALLET_SIGNING_ORIGIN',
    about: 'origin of the page on which people sign; needs WALLET_CONSOLE_ORIGIN, and without both there is no page',
    fallback: '',
    example: 'https://sign.example.org',
  },
  {
    name: 'WALLET_CONSOLE_ORIGIN',
    about: 'origin of the console, the only one that the page hands signatures to',
    fallback: '',
    example: 'https://vault.example.org',
  },
  {
    name: 'SMTP_URL',
    about: 'smtps:// or smtp:// (with STARTTLS) server for mails about the next version of an authority',
    fallback: '',
    example: 'smtps://user:PASSWORD@mail.example.org',
    isSecret: true,
  },
  {
    name: 'MAIL_FROM',
    about: 'sender of these mails; required with an SMTP_URL on another machine',
    fallback: 'Strongroom wallet <strongroom-wallet@localhost>',
    example: 'Strongroom wallet <wallet@example.org>',
  },
  {
    name: 'SERVICE_DATABASE_URL',
    about: 'DATABASE_URL of the service, for `strongroom-wallet doctor` to compare',
    fallback: '',
    example: 'postgresql://strongroom_login:PASSWORD@db.internal/strongroom',
    isSecret: true,
  },
  { name: 'LOG_LEVEL', about: 'fatal, error, warn, info, debug, trace or silent', fallback: 'info', example: 'debug' },
]
