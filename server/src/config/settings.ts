/** The risks that an unsafe setting can have outside demo mode, by their names in ALLOW_INSECURE. */
export const risks = ['public-url', 'secrets', 'smtp'] as const
export type Risk = (typeof risks)[number]

/** A setting. If it is secret, `NAME_FILE` can name a file that contains it. */
export type Setting = { name: string; about: string; fallback: string; example: string; isSecret?: true }

/** Every setting, as `strongroom config` prints it. */
export const settings: Setting[] = [
  { name: 'PORT', about: 'TCP port; 0 picks a free one', example: '8420', fallback: '8420' },
  { name: 'HOST', about: 'address to listen on', example: '0.0.0.0', fallback: '127.0.0.1' },
  {
    name: 'PUBLIC_URL',
    about: 'origin that people and mails use, such as https://vault.example.org; required outside demo mode',
    example: 'https://vault.example.org',
    fallback: 'http://localhost:PORT',
  },
  {
    name: 'DATA_DIR',
    about: 'folder of the embedded database and of demo mail',
    example: '/var/lib/strongroom',
    fallback: '../.strongroom',
  },
  {
    name: 'CONSOLE',
    about: 'off: this node serves the API only, without the web console',
    example: 'off',
    fallback: 'on',
  },
  {
    name: 'GAS_CHECK',
    about: 'on: an order is refused whose address cannot pay the network fee; off: its preview says so',
    example: 'on',
    fallback: 'on; off in demo mode',
  },
  {
    name: 'DATABASE_URL',
    about:
      'PostgreSQL 15 to 18; several hosts, separated by commas: the one that takes writes; unset: the embedded server',
    example: 'postgresql://strongroom_login:PASSWORD@db.internal/strongroom?sslmode=verify-full',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'DATABASE_OWNER_URL',
    about: 'the same database as its owner, for migrations; a node that is up to date does not need it',
    example: 'postgresql://strongroom_owner:PASSWORD@db.internal/strongroom?sslmode=verify-full',
    fallback: 'DATABASE_URL',
    isSecret: true,
  },
  {
    name: 'REPORTS_DATABASE_URL',
    about: 'a streaming replica of the same database, for reports, their files and verifications',
    example: 'postgresql://strongroom_login:PASSWORD@replica.internal/strongroom?sslmode=verify-full',
    fallback: 'DATABASE_URL',
    isSecret: true,
  },
  {
    name: 'DATABASE_CA',
    about:
      'file with the certificate of the authority that signed that of the database; connections to another machine then ' +
      'use TLS with sslmode=verify-full',
    example: '/etc/strongroom/database-ca.pem',
    fallback: '',
  },
  {
    name: 'DATABASE_WAIT_SECONDS',
    about: 'seconds that a start waits for a database that does not answer yet, 0 to 600',
    example: '120',
    fallback: '60',
  },
  {
    name: 'DEMO',
    about: 'true: mail becomes files, unsigned webhooks are accepted, loopback wallets are allowed',
    example: 'false',
    fallback: 'false',
  },
  {
    name: 'STRONGROOM_ADMIN_EMAIL',
    about: 'made a platform administrator at start',
    example: 'operator@example.org',
    fallback: '',
  },
  {
    name: 'STRONGROOM_SECRET_KEY',
    about: 'at least 32 random characters; seals secrets at rest; required outside demo mode',
    example: 'what openssl rand -base64 32 prints',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'STRONGROOM_SECRET_KEY_PREVIOUS',
    about: 'the key before STRONGROOM_SECRET_KEY; read by "strongroom secrets rotate" only',
    example: 'the key that openssl printed before',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'SMTP_URL',
    about: 'smtps:// or smtp:// (with STARTTLS) server that sends mail; required outside demo mode',
    example: 'smtps://user:PASSWORD@mail.example.org',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'ORGANISATION_NAME',
    about: 'name of the organisation, in the title block of a report as PDF',
    example: 'Example Corporation',
    fallback: '',
  },
  {
    name: 'MAIL_FROM',
    about: 'sender of mails; required outside demo mode',
    example: 'Strongroom <strongroom@example.org>',
    fallback: 'Strongroom <strongroom@localhost>',
  },
  {
    name: 'WALLET_WEBHOOK_SECRET',
    about: 'at least 24 random bytes, several separated by commas; required outside demo mode',
    example: 'what openssl rand -base64 32 prints',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'WALLET_ALLOWED_HOSTS',
    about: 'private hosts (host or host:port, separated by commas) that a walletServiceUrl may name',
    example: '10.0.0.7:9000,wallet.internal',
    fallback: '',
  },
  {
    name: 'IDENTITY_ALLOWED_HOSTS',
    about: 'private hosts (host or host:port, separated by commas) that an identity provider may have',
    example: 'login.internal',
    fallback: '',
  },
  {
    name: 'RATES_URL',
    about: 'JSON {CODE: "usd"} polled every minute; https, or http: and file: in demo mode',
    example: 'https://rates.example.org/usd.json',
    fallback: '',
  },
  {
    name: 'RATE_JUMP_FACTOR',
    about: 'a rate more than this many times higher or lower than an earlier one is held back; 1.01 to 999.99',
    example: '1.5',
    fallback: '2',
  },
  {
    name: 'SCREENING_URL',
    about: 'service that allows, holds or blocks each deposit and transfer; https, or http on this machine; unset: off',
    example: 'https://screening.example.org/v1',
    fallback: '',
  },
  {
    name: 'SCREENING_SECRET',
    about:
      'signs questions and answers: at least 24 random bytes, several separated by commas; required with SCREENING_URL',
    example: 'what openssl rand -base64 32 prints',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'WITNESSES',
    about:
      'witnesses that keep the heads of the seal chains, separated by commas: file:/path, mailto:auditor@example.org, https://…',
    example: 'file:/mnt/heads,mailto:auditor@example.org,https://witness.example.org/heads',
    fallback: '',
  },
  {
    name: 'WITNESS_EVERY_HOURS',
    about: 'hours between two heads, 1 to 168; a mailbox gets one a day',
    example: '6',
    fallback: '1',
  },
  {
    name: 'WITNESS_SECRET',
    about: 'signs what is posted to https:// of WITNESSES: at least 24 random bytes, several separated by commas',
    example: 'what openssl rand -base64 32 prints',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'SEAL_KEYS',
    about: 'ids of keys that signed seals before a rotation of STRONGROOM_SECRET_KEY, separated by commas',
    example: '0123456789abcdef0123456789abcdef',
    fallback: '',
  },
  { name: 'APPROVAL_TTL_HOURS', about: 'hours until a pending approval expires', example: '24', fallback: '72' },
  {
    name: 'RECONCILE_EVERY_HOURS',
    about: 'hours between two comparisons of a vault with the chain, 1 to 24',
    example: '1',
    fallback: '6',
  },
  {
    name: 'STUCK_AFTER_MINUTES',
    about: 'minutes after the hand-over until a transfer without an outcome counts as stuck',
    example: '60',
    fallback: '30',
  },
  {
    name: 'SESSION_TTL_DAYS',
    about: 'days of inactivity until a session ends (30 days at most in all)',
    example: '1',
    fallback: '7',
  },
  {
    name: 'RATE_LIMIT_PER_MINUTE',
    about: 'requests per person and minute, ten times as many per service; 0 is off, as is the default in demo mode',
    example: '600',
    fallback: '3000',
  },
  {
    name: 'REQUEST_TIMEOUT_SECONDS',
    about: 'seconds a request may take to arrive whole',
    example: '60',
    fallback: '30',
  },
  {
    name: 'TRUST_PROXY',
    about:
      'number of proxies in front, or their addresses (IP or CIDR, separated by commas); 0: X-Forwarded-For is ignored',
    example: '10.0.0.5',
    fallback: '0',
  },
  {
    name: 'METRICS_TOKEN',
    about:
      'Bearer token for /metrics, at least 24 random characters; outside demo mode /metrics is disabled without it',
    example: 'what openssl rand -base64 32 prints',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'ALLOW_INSECURE',
    about: `unsafe settings to accept outside demo mode, separated by commas: ${risks.join(', ')}`,
    example: 'smtp',
    fallback: '',
  },
  { name: 'LOG_LEVEL', about: 'fatal, error, warn, info, debug, trace or silent', example: 'debug', fallback: 'info' },
]
