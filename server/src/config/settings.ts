/** Settings that are unsafe outside demo mode, by their name in ALLOW_INSECURE. */
export const risks = ['public-url', 'secrets', 'smtp'] as const
export type Risk = (typeof risks)[number]

export type Setting = { name: string; about: string; fallback: string; isSecret?: true }

/** Every setting, as `strongroom config` prints it. */
export const settings: Setting[] = [
  { name: 'PORT', about: 'TCP port; 0 picks a free one', fallback: '8420' },
  { name: 'HOST', about: 'address to listen on', fallback: '127.0.0.1' },
  {
    name: 'PUBLIC_URL',
    about: 'origin that people and mails use, such as https://vault.example.org; required outside demo mode',
    fallback: 'http://localhost:PORT',
  },
  { name: 'DATA_DIR', about: 'folder of the embedded database and of demo mail', fallback: '../.strongroom' },
  { name: 'CONSOLE', about: 'off: this node serves the API only, without the web console', fallback: 'on' },
  {
    name: 'GAS_CHECK',
    about: 'on: an order is refused whose address cannot pay the network fee; off: its preview says so',
    fallback: 'on; off in demo mode',
  },
  { name: 'DATABASE_URL', about: 'PostgreSQL 15 to 18; unset: the embedded server', fallback: '', isSecret: true },
  {
    name: 'DATABASE_OWNER_URL',
    about: 'the same database as its owner, for migrations; a node that is up to date does not need it',
    fallback: 'DATABASE_URL',
    isSecret: true,
  },
  {
    name: 'REPORTS_DATABASE_URL',
    about: 'a streaming replica of the same database, for reports, their files and verifications',
    fallback: 'DATABASE_URL',
    isSecret: true,
  },
  {
    name: 'DEMO',
    about: 'true: mail becomes files, unsigned webhooks are accepted, loopback wallets are allowed',
    fallback: 'false',
  },
  { name: 'STRONGROOM_ADMIN_EMAIL', about: 'made a platform administrator at start', fallback: '' },
  {
    name: 'STRONGROOM_SECRET_KEY',
    about: 'at least 32 random characters; seals secrets at rest; required outside demo mode',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'STRONGROOM_SECRET_KEY_PREVIOUS',
    about: 'the key before STRONGROOM_SECRET_KEY; read by "strongroom secrets rotate" only',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'SMTP_URL',
    about: 'smtps:// or smtp:// (with STARTTLS) server that sends mail; required outside demo mode',
    fallback: '',
    isSecret: true,
  },
  { name: 'MAIL_FROM', about: 'sender of mails', fallback: 'Strongroom <strongroom@localhost>' },
  {
    name: 'WALLET_WEBHOOK_SECRET',
    about: 'at least 24 random bytes, several separated by commas; required outside demo mode',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'WALLET_ALLOWED_HOSTS',
    about: 'private hosts (host or host:port, separated by commas) that a walletServiceUrl may name',
    fallback: '',
  },
  {
    name: 'RATES_URL',
    about: 'JSON {CODE: "usd"} polled every minute; https, or http: and file: in demo mode',
    fallback: '',
  },
  {
    name: 'RATE_JUMP_FACTOR',
    about: 'a rate more than this many times higher or lower than an earlier one is held back; 1.01 to 999.99',
    fallback: '2',
  },
  {
    name: 'SCREENING_URL',
    about: 'service that allows, holds or blocks each deposit and transfer; https, or http on this machine; unset: off',
    fallback: '',
  },
  {
    name: 'SCREENING_SECRET',
    about:
      'signs questions and answers: at least 24 random bytes, several separated by commas; required with SCREENING_URL',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'WITNESSES',
    about:
      'who keeps the heads of the chains of seals, separated by commas: file:/path, mailto:auditor@example.org, https://…',
    fallback: '',
  },
  { name: 'WITNESS_EVERY_HOURS', about: 'hours between two heads, 1 to 168; a mailbox gets one a day', fallback: '1' },
  {
    name: 'WITNESS_SECRET',
    about: 'signs what is posted to https:// of WITNESSES: at least 24 random bytes, several separated by commas',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'SEAL_KEYS',
    about: 'ids of keys that signed seals before a rotation of STRONGROOM_SECRET_KEY, separated by commas',
    fallback: '',
  },
  { name: 'APPROVAL_TTL_HOURS', about: 'hours until a pending approval expires', fallback: '72' },
  {
    name: 'RECONCILE_EVERY_HOURS',
    about: 'hours between two comparisons of a vault with the chain, 1 to 24',
    fallback: '6',
  },
  {
    name: 'STUCK_AFTER_MINUTES',
    about: 'minutes after the hand-over until a transfer without an outcome counts as stuck',
    fallback: '30',
  },
  {
    name: 'SESSION_TTL_DAYS',
    about: 'days of inactivity until a session ends (30 days at most in all)',
    fallback: '7',
  },
  {
    name: 'RATE_LIMIT_PER_MINUTE',
    about: 'requests per person and minute, ten times as many per service; 0 is off, as is the default in demo mode',
    fallback: '3000',
  },
  { name: 'REQUEST_TIMEOUT_SECONDS', about: 'seconds a request may take to arrive whole', fallback: '30' },
  {
    name: 'TRUST_PROXY',
    about:
      'number of proxies in front, or their addresses (IP or CIDR, separated by commas); 0: X-Forwarded-For is ignored',
    fallback: '0',
  },
  {
    name: 'METRICS_TOKEN',
    about:
      'Bearer token for /metrics, at least 24 random characters; outside demo mode /metrics is disabled without it',
    fallback: '',
    isSecret: true,
  },
  {
    name: 'ALLOW_INSECURE',
    about: `unsafe settings to accept outside demo mode, separated by commas: ${risks.join(', ')}`,
    fallback: '',
  },
  { name: 'LOG_LEVEL', about: 'fatal, error, warn, info, debug, trace or silent', fallback: 'info' },
]
