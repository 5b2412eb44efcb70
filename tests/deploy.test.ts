import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readCommandConfig, readConfig } from '../server/src/config/config.ts'
import { settings as ofServer, type Setting } from '../server/src/config/settings.ts'
import { readWalletConfig } from '../wallet/src/config.ts'
import { settings as ofWallet } from '../wallet/src/settings.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'strongroom-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8')

/** Returns the names that are neither a setting nor the file of a secret setting. */
function strangersIn(names: string[], settings: Setting[]): string[] {
  const known = settings.flatMap(({ name, isSecret }) => (isSecret === true ? [name, `${name}_FILE`] : [name]))
  return names.filter((name) => !known.includes(name))
}

describe('deploy/compose', () => {
  type Service = {
    image: string
    environment?: Record<string, string>
    secrets?: string[]
    networks?: string[] | Record<string, unknown>
    read_only?: boolean
    cap_drop?: string[]
    security_opt?: string[]
    command?: string[]
    volumes?: string[]
  }
  type Compose = {
    services: Record<string, Service>
    secrets: Record<string, { file: string }>
    networks: Record<string, { internal?: boolean } | null>
    volumes: Record<string, unknown>
  }
  const place = join(folder, 'deploy/compose')
  const answers = [
    'vault.example.org',
    'operator@example.org',
    'smtps://user:word@mail.example.org',
    'https://rpc.example.org',
  ]
  const init = (input: string) => spawnSync('sh', [join(place, 'init.sh')], { input, encoding: 'utf8' })
  let compose: Compose

  beforeAll(() => {
    cpSync(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true })
    cpSync(join(root, 'server/package.json'), join(folder, 'server/package.json'), { recursive: true })
    compose = parse(read('compose/compose.yaml'), { merge: true }) as Compose
  })

  /**
   * Returns the environment variables of a service in its container, with paths to the secrets that `init.sh` wrote.
   */
  function environmentOf(name: string): Record<string, string> {
    const dotEnv = Object.fromEntries(
      readFileSync(join(place, '.env'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).replace(/^"(.*)"$/, '$1')]),
    )
    const { environment = {} } = compose.services[name]!
    return Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        value
          .replace(/\$\{(\w+)\}/g, (_, variable: string) => dotEnv[variable] ?? `no ${variable}`)
          .replace('/run/secrets/', `${place}/secrets/`),
      ]),
    )
  }

  it('init.sh asks four questions, writes every secret to a file, and keeps existing files', () => {
    const refused = init('')
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('an answer is needed')])
    expect(init(`${answers.with(0, 'a"b').join('\n')}\n`).stderr).toContain('an answer has no spaces, quotes')
    expect(existsSync(join(place, '.env'))).toBe(false)

    const first = init(`${answers.join('\n')}\n`)
    expect([first.status, first.stderr.match(/\?$/gm)?.length]).toEqual([0, 4])
    const made = Object.keys(compose.secrets).map((name) => join(place, compose.secrets[name]!.file))
    const before = made.map((path) => readFileSync(path, 'utf8'))
    for (const text of before) expect(text).toMatch(/^\S.{9,}$/)
    // The containers read the files as other users; other users of the machine cannot open the folder.
    expect(statSync(join(place, 'secrets')).mode & 0o777).toBe(0o700)
    for (const path of made) expect(statSync(path).mode & 0o777).toBe(0o444)

    const again = init('')
    expect([again.status, again.stderr.includes('?')]).toEqual([0, false])
    expect(made.map((path) => readFileSync(path, 'utf8'))).toEqual(before)
  })

  it('its nodes and its wallet service start with the files of init.sh', () => {
    for (const node of ['node-1', 'node-2']) {
      const env = environmentOf(node)
      expect(strangersIn(Object.keys(env), ofServer)).toEqual([])
      expect(readConfig(env)).toMatchObject({
        publicUrl: 'https://vault.example.org',
        adminEmail: 'operator@example.org',
        mailFrom: 'Strongroom <operator@example.org>',
        trustProxy: 1,
        allowedRisks: [],
      })
    }
    const ofMigrate = environmentOf('migrate')
    expect(strangersIn(Object.keys(ofMigrate), ofServer)).toEqual([])
    expect(readCommandConfig(ofMigrate).databaseOwnerUrl).toContain('strongroom_owner:')
    const env = environmentOf('wallet')
    expect(strangersIn(Object.keys(env), ofWallet)).toEqual([])
    const wallet = readWalletConfig(env)
    expect(wallet).toMatchObject({ port: 9000, webhookUrl: 'http://nodes:8420/webhooks/wallet' })
    expect(readConfig(environmentOf('node-1')).webhookSecrets).toEqual([wallet.webhookSecret])
  })

  it('each secret, network and volume that a service names exists', () => {
    const { services, secrets, networks, volumes } = compose
    for (const [name, service] of Object.entries(services)) {
      const inFiles = Object.values(service.environment ?? {}).filter((value) => value.startsWith('/run/secrets/'))
      expect([name, inFiles.map((path) => path.slice('/run/secrets/'.length)).sort()]).toEqual([
        name,
        (service.secrets ?? []).toSorted(),
      ])
      expect((service.secrets ?? []).filter((secret) => secrets[secret] === undefined)).toEqual([])
      expect(networksOf(service).filter((network) => !(network in networks))).toEqual([])
      const sources = (service.volumes ?? []).map((volume) => volume.split(':')[0]!)
      const [files, named] = [
        sources.filter((source) => source.startsWith('.')),
        sources.filter((source) => !source.startsWith('.')),
      ]
      expect(files.filter((file) => !existsSync(join(place, file)))).toEqual([])
      expect(named.filter((source) => !(source in volumes))).toEqual([])
    }
  })

  const networksOf = ({ networks = [] }: Service) => (Array.isArray(networks) ? networks : Object.keys(networks))

  it('only nodes reach the wallet service, only it reaches its database, and Caddy reaches no database', () => {
    const on = (network: string) =>
      Object.keys(compose.services).filter((name) => networksOf(compose.services[name]!).includes(network))
    expect(on('wallet')).toEqual(['node-1', 'node-2', 'wallet'])
    expect(on('wallet-database')).toEqual(['wallet-database', 'wallet', 'wallet-backup'])
    expect(on('database')).toEqual(['database', 'migrate', 'node-1', 'node-2', 'backup'])
    expect(on('front')).toEqual(['node-1', 'node-2', 'caddy'])
    const neighbours = (name: string) => networksOf(compose.services[name]!).flatMap(on)
    expect([...new Set(neighbours('wallet'))].sort()).toEqual(
      ['node-1', 'node-2', 'wallet', 'wallet-backup', 'wallet-database'].sort(),
    )
    expect([...new Set(neighbours('caddy'))].sort()).toEqual(['caddy', 'node-1', 'node-2'])
    for (const network of ['front', 'database', 'wallet', 'wallet-database'])
      expect(compose.networks[network]).toEqual({ internal: true })
  })

  it('our containers run without privileges and with a read-only root', () => {
    const ours = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('strongroom:'))
    expect(ours.map(([name]) => name)).toEqual(['migrate', 'node-1', 'node-2', 'wallet'])
    for (const [, service] of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    }
  })
})

describe('deploy/kubernetes', () => {
  type Pod = {
    automountServiceAccountToken: boolean
    securityContext: object
    containers: {
      image: string
      securityContext: object
      env: { name: string; value?: string }[]
      volumeMounts: Mount[]
    }[]
    volumes: { name: string; secret?: { secretName: string } }[]
  }
  type Mount = { name: string; mountPath: string }
  type Peer = { podSelector?: { matchLabels: Record<string, string> } }
  type Manifest = {
    apiVersion: string
    kind: string
    metadata: { name: string }
    spec: {
      template?: { spec: Pod }
      podSelector?: { matchLabels?: Record<string, string> }
      policyTypes?: string[]
      ingress?: { from?: Peer[] }[]
    }
  }
  type Kustomization = {
    resources: string[]
    images?: { newTag: string }[]
    secretGenerator?: { name: string; files: string[] }[]
  }
  const place = join(folder, 'kubernetes/kubernetes')
  const folders = ['', 'migrate/', 'service/']
  const kustomizations = folders.map((path) => parse(read(`kubernetes/${path}kustomization.yaml`)) as Kustomization)
  const manifests = folders.flatMap((path, index) =>
    kustomizations[index]!.resources.flatMap((file) =>
      parseAllDocuments(read(`kubernetes/${path}${file}`)).map((document) => document.toJS() as Manifest),
    ),
  )
  const pods = manifests.flatMap(({ metadata, spec }) =>
    spec?.template === undefined ? [] : [{ name: metadata.name, pod: spec.template.spec }],
  )

  beforeAll(() => {
    cpSync(join(root, 'deploy'), join(folder, 'kubernetes'), { recursive: true })
    mkdirSync(join(folder, 'server'), { recursive: true })
    cpSync(join(root, 'server/package.json'), join(folder, 'server/package.json'))
    const input = `vault.example.org\noperator@example.org\nsmtps://u:w@mail.example.org\nhttps://rpc.example.org\n`
    const made = spawnSync('sh', [join(place, 'init.sh')], { input, encoding: 'utf8' })
    expect([made.status, made.stderr.match(/\?$/gm)?.length]).toEqual([0, 4])
  })

  /** Kinds of operators, whose schemas are not those of Kubernetes. */
  const ofOperators = ['Cluster', 'ScheduledBackup', 'ServiceMonitor', 'PrometheusRule']

  type Model = new (manifest: object) => { validate(): void }
  /** The schemas of one version of an API, by kind. */
  const modelsOf = (apiVersion: string) =>
    createRequire(import.meta.url)(`kubernetes-models/${apiVersion}`) as Record<string, Model>

  it('each manifest is valid under the schema of Kubernetes', () => {
    const kinds: string[] = []
    for (const manifest of manifests.filter(({ kind }) => !ofOperators.includes(kind))) {
      const Model = modelsOf(manifest.apiVersion)[manifest.kind]!
      expect(() => new Model(manifest).validate(), manifest.metadata.name).not.toThrow()
      kinds.push(manifest.kind)
    }
    expect([...new Set(kinds)].sort()).toEqual([
      'Deployment',
      'Ingress',
      'Job',
      'Namespace',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'StatefulSet',
    ])
    const wrong = { metadata: {}, spec: { replicas: 'two' } }
    expect(() => new (modelsOf('apps/v1').Deployment!)(wrong).validate()).toThrow()
  })

  it('pods start with the files of init.sh, and name only existing settings', () => {
    const [{ secretGenerator = [] }] = kustomizations as [Kustomization]
    const configMap = Object.fromEntries(
      readFileSync(join(place, '.env'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    )
    const environments = Object.fromEntries(
      pods.map(({ name, pod: { containers, volumes } }) => {
        const [{ env, volumeMounts }] = containers as [Pod['containers'][number]]
        const entries = env.map(({ name: variable, value = configMap[variable] ?? 'missing' }) => {
          const mount = volumeMounts.find(
            ({ mountPath }) => value.startsWith(`${mountPath}/`) && value !== '/var/lib/strongroom',
          )
          const secret = volumes.find((volume) => volume.name === mount?.name)?.secret?.secretName
          const file = value.split('/').at(-1)!
          const generated = secretGenerator.find((generator) => generator.name === secret)?.files ?? []
          if (secret !== undefined) expect(generated).toContain(`secrets/${file}`)
          const text = secret === undefined ? value : `${place}/secrets/${file}`
          return [variable, text.replace(/\$\((\w+)\)/g, (_, known: string) => configMap[known] ?? 'missing')]
        })
        return [name, Object.fromEntries(entries) as Record<string, string>]
      }),
    )
    const { STRONGROOM_HOST: host, ...ofNode } = environments.strongroom!
    expect(host).toBe('vault.example.org')
    expect(strangersIn(Object.keys(ofNode), ofServer)).toEqual([])
    expect(readConfig(ofNode)).toMatchObject({
      publicUrl: 'https://vault.example.org',
      mailFrom: 'Strongroom <operator@example.org>',
      allowedRisks: [],
    })
    const ofMigrate = environments['strongroom-migrate']!
    expect(strangersIn(Object.keys(ofMigrate), ofServer)).toEqual([])
    expect(readCommandConfig(ofMigrate).databaseOwnerUrl).toMatch(
      /^postgresql:\/\/strongroom_owner:\w+@strongroom-database-rw\//,
    )
    expect(strangersIn(Object.keys(environments.wallet!), ofWallet)).toEqual([])
    const wallet = readWalletConfig(environments.wallet!)
    expect(wallet).toMatchObject({ port: 9000, webhookUrl: 'http://strongroom:8420/webhooks/wallet' })
    for (const { files } of secretGenerator)
      for (const file of files) expect(existsSync(join(place, file.split('=').at(-1)!)), file).toBe(true)
  })

  it('pods run the version of this tree, without privileges and with a read-only root', () => {
    expect(pods.map(({ name }) => name)).toEqual(['strongroom-migrate', 'strongroom', 'wallet'])
    for (const { pod } of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            image: 'strongroom',
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      })
    }
    const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string }
    expect(kustomizations.flatMap(({ images = [] }) => images.map(({ newTag }) => newTag))).toEqual([version, version])
  })

  it('only nodes reach the wallet service, and only it reaches its database', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
    expect(policies[0]).toMatchObject({ spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] } })
    expect(policies[0]!.spec.ingress).toBeUndefined()
    const callersOf = (label: string, value: string) =>
      policies
        .filter(({ spec }) => spec.podSelector?.matchLabels?.[label] === value)
        .flatMap(({ spec }) => spec.ingress ?? [])
        .flatMap(({ from = [] }) => from)
        .flatMap(({ podSelector }) => (podSelector === undefined ? [] : Object.values(podSelector.matchLabels)))
    expect(callersOf('app', 'wallet')).toEqual(['strongroom'])
    expect(callersOf('cnpg.io/cluster', 'wallet-database')).toEqual(['wallet', 'wallet-database'])
    expect(callersOf('cnpg.io/cluster', 'strongroom-database')).toEqual([
      'strongroom',
      'strongroom-migrate',
      'strongroom-database',
    ])
  })

  it('its alert rules are those of docs/alerts.yaml', () => {
    const rules = read('kubernetes/service/alerts.yaml')
    const made = readFileSync(join(root, 'docs/alerts.yaml'), 'utf8').replace(/^(?=.)/gm, '  ')
    expect(rules.slice(rules.indexOf('spec:\n') + 'spec:\n'.length)).toBe(made)
  })
})

describe('deploy/container', () => {
  it('the image has a base that can be chosen, runs as an unprivileged user, and has a health check', () => {
    const lines = read('container/Containerfile').split('\n')
    const last = (word: string) => lines.findLast((line) => line.startsWith(`${word} `))
    expect(lines.find((line) => line.startsWith('FROM '))).toMatch(/^FROM \$\{BASE\}$/)
    expect(last('USER')).toBe('USER 10001:10001')
    expect(last('ENTRYPOINT')).toBe('ENTRYPOINT ["strongroom"]')
    expect(lines.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true)
    const set = [...last('ENV')!.matchAll(/ ([A-Z_]+)=/g)].map(([, name]) => name!).filter((name) => name !== 'PATH')
    expect(strangersIn(set, ofServer)).toEqual([])
  })

  it('its health check exits with 0 while the service is healthy, and with 1 otherwise', async () => {
    const script = /CMD \["node", "-e", (".*")\]/.exec(read('container/Containerfile'))![1]!
    const { createServer } = await import('node:http')
    for (const [status, code] of [
      [200, 0],
      [503, 1],
    ]) {
      const server = createServer((_, response) => response.writeHead(status!).end())
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
      const { port } = server.address() as { port: number }
      const { spawn } = await import('node:child_process')
      const check = spawn(process.execPath, ['-e', JSON.parse(script)], { env: { PORT: String(port) } })
      expect(await new Promise((resolve) => check.once('exit', resolve))).toBe(code)
      server.close()
    }
  })
})

describe('deploy/linux/cluster', () => {
  const script = join(root, 'deploy/linux/cluster/render.sh')
  const place = join(folder, 'cluster')
  const settings = read('linux/cluster/cluster.env')
  const render = (text: string) => {
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'cluster.env'), text)
    return spawnSync('sh', [script, join(place, 'cluster.env'), place], { encoding: 'utf8' })
  }
  const rendered = (path: string) => readFileSync(join(place, path), 'utf8')

  it('renders a cluster of three machines that acknowledges no commit without a standby', () => {
    expect(render(settings)).toMatchObject({ status: 0, stderr: '' })
    for (const [index, name] of ['db1', 'db2', 'db3'].entries()) {
      const address = `10.0.0.${11 + index}`
      expect(parse(rendered(`${name}/etcd.yaml`))).toMatchObject({
        name,
        'initial-cluster': 'db1=http://10.0.0.11:2380,db2=http://10.0.0.12:2380,db3=http://10.0.0.13:2380',
        'listen-client-urls': `http://${address}:2379`,
      })
      expect(parse(rendered(`${name}/patroni.yaml`))).toMatchObject({
        name,
        etcd3: { hosts: '10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379' },
        bootstrap: {
          dcs: {
            ...{ ttl: 20, loop_wait: 5, retry_timeout: 5 },
            ...{ failsafe_mode: true, synchronous_mode: true, synchronous_mode_strict: true },
          },
        },
        postgresql: {
          listen: `${address}:5432`,
          parameters: { ssl: 'on', ssl_ca_file: '/etc/strongroom/tls/ca.crt' },
          pg_hba: [
            'local all all scram-sha-256',
            'hostssl replication replicator 10.0.0.0/24 scram-sha-256',
            'hostssl all all 10.0.0.0/24 scram-sha-256',
          ],
        },
        watchdog: { mode: 'required', device: '/dev/watchdog' },
      })
    }
    const proxy = rendered('haproxy.cfg')
    expect(proxy).toMatch(
      /listen primary\n {2}bind 10\.0\.0\.31:5000\n[\s\S]*httpchk GET \/primary[\s\S]*10\.0\.0\.13:5432 check port 8008/,
    )
    expect(proxy).toMatch(/listen replica\n {2}bind 10\.0\.0\.31:5001\n[\s\S]*httpchk GET \/replica/)
    expect(proxy).toMatch(/listen nodes\n[\s\S]*httpchk GET \/readyz\n[\s\S]*server node2 10\.0\.0\.22:8420 check/)
  })

  it('keeps existing passwords, in files that only their owner can read', () => {
    const before = rendered('db1/patroni.yaml')
    expect(render(settings).status).toBe(0)
    expect(rendered('db1/patroni.yaml')).toBe(before)
    const secrets = ['superuser', 'replication', 'rewind', 'api'].map((name) => rendered(`secrets/${name}`).trim())
    expect(new Set(secrets).size).toBe(4)
    for (const path of ['secrets/superuser', 'db1/patroni.yaml'])
      expect(statSync(join(place, path)).mode & 0o077).toBe(0)
  })

  it.each([
    ['two machines', (text: string) => text.replace(' db3=10.0.0.13', ''), 'names 2 machines, not three'],
    ['a lease that is too short', (text: string) => text.replace('LEASE=20', 'LEASE=10'), 'LEASE is 10'],
    ['no proxy', (text: string) => text.replace(/^PROXY=.*$/m, ''), 'PROXY is not set'],
  ])('refuses settings with %s', (_, change, message) => {
    const { status, stderr } = render(change(settings))
    expect(status).toBe(1)
    expect(stderr).toContain(message)
  })
})

describe('deploy/linux', () => {
  const units = ['strongroom.service', 'strongroom-migrate.service', 'strongroom-wallet.service']
  const valuesOf = (text: string, key: string) =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!)

  it('each variable of a unit is a setting, and each secret is a credential that the unit loads', () => {
    for (const name of units) {
      const unit = read(`linux/${name}`)
      const settings = name.includes('wallet') ? ofWallet : ofServer
      const pairs = valuesOf(unit, 'Environment').map((value) => value.split('=') as [string, string])
      expect(
        strangersIn(
          pairs.map(([key]) => key),
          settings,
        ),
      ).toEqual([])
      const loaded = valuesOf(unit, 'LoadCredential').map((value) => `%d/${value.split(':')[0]}`)
      expect(pairs.filter(([key]) => key.endsWith('_FILE')).map(([, path]) => path)).toEqual(loaded)
    }
    const namesIn = (text: string) => [...text.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name!)
    expect(strangersIn(namesIn(read('linux/strongroom.env')), ofServer)).toEqual([])
    expect(strangersIn(namesIn(read('linux/wallet.env')), ofWallet)).toEqual([])
  })

  it('the commands of the units are those of the archive', () => {
    const programs = units.flatMap((name) =>
      valuesOf(read(`linux/${name}`), 'ExecStart').map((line) => line.split(' ')[0]!),
    )
    expect([...new Set(programs)].sort()).toEqual(
      readdirSync(join(root, 'tools/package/bin')).map((name) => `/opt/strongroom/bin/${name}`),
    )
  })

  const analyze = '/usr/bin/systemd-analyze'
  it.runIf(existsSync(analyze))('systemd accepts the units, and rates their exposure as low', () => {
    for (const name of units) {
      const path = join(folder, name)
      writeFileSync(path, read(`linux/${name}`).replace('/opt/strongroom/', `${root}tools/package/`))
      const verified = spawnSync(analyze, ['verify', path], { encoding: 'utf8' })
      expect([name, verified.status, verified.stderr]).toEqual([name, 0, ''])
      // The threshold is in tenths: an exposure of 2.5 of 10.
      const judged = spawnSync(analyze, ['security', '--offline=true', '--threshold=25', path], { encoding: 'utf8' })
      expect([name, judged.status, judged.stdout.split('\n').at(-2)]).toEqual([name, 0, expect.stringContaining('OK')])
    }
  })
})

describe('deploy/backup', () => {
  const script = join(root, 'deploy/backup/backup.sh')
  const places = { BACKUPS: join(folder, 'backups'), WAL: join(folder, 'wal') }
  const passwordFile = join(folder, 'password')
  const wal = (number: number) => `0000000100000000${number.toString(16).toUpperCase().padStart(8, '0')}`

  /** Replaces `pg_basebackup`, which would need a server of its own release: makes the same files. */
  const program = `#!/bin/sh
[ "$PGPASSWORD" = hunter2 ] && [ "$FIRST" != none ] || exit 1
for word; do case $word in --pgdata=*) folder=\${word#--pgdata=} ;; esac; done
mkdir "$folder" && cd "$folder"
echo 18 > PG_VERSION
echo "START WAL LOCATION: 0/3000028 (file $FIRST)" > backup_label
tar -czf base.tar.gz PG_VERSION backup_label
tar -czf pg_wal.tar.gz PG_VERSION
rm PG_VERSION backup_label
`
  const run = (first: string) =>
    spawnSync('sh', [script, 'once'], {
      env: {
        PATH: `${join(folder, 'programs')}:${process.env.PATH}`,
        ...places,
        PASSWORD_FILE: passwordFile,
        KEEP: '1',
        FIRST: first,
      },
      encoding: 'utf8',
    })

  beforeAll(() => {
    for (const path of [...Object.values(places), join(folder, 'programs')]) mkdirSync(path)
    writeFileSync(join(folder, 'programs/pg_basebackup'), program, { mode: 0o755 })
    writeFileSync(passwordFile, 'hunter2\n')
    for (const name of [wal(2), `${wal(2)}.00000028.backup`, wal(3), wal(4), '00000002.history', `${wal(9)}.part`])
      writeFileSync(join(places.WAL, name), '')
  })

  it('keeps the newest readable backups, and the WAL that they need', async () => {
    const first = run(wal(3))
    expect([first.status, first.stderr]).toEqual([0, ''])
    const [taken] = readdirSync(places.BACKUPS)
    expect(readdirSync(join(places.BACKUPS, taken!)).sort()).toEqual(['base.tar.gz', 'pg_wal.tar.gz'])
    expect(readdirSync(places.WAL).sort()).toEqual([wal(3), wal(4), `${wal(9)}.part`, '00000002.history'].sort())

    // The name of a backup is its time in seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(run(wal(4)).status).toBe(0)
    const [kept, ...others] = readdirSync(places.BACKUPS)
    expect([kept! > taken!, others]).toEqual([true, []])
    expect(readdirSync(places.WAL)).not.toContain(wal(3))

    const failed = run('none')
    expect(failed.status).not.toBe(0)
    expect(readdirSync(places.BACKUPS)).toEqual([kept])
    expect(readdirSync(places.WAL)).toContain(wal(4))
  })
})
