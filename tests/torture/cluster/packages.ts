import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Debian 12's packages of the cluster, with what Patroni imports and what these programs link. */
const packages = [
  ...[
    'patroni',
    'python3-cdiff',
    'python3-click',
    'python3-dateutil',
    'python3-dnspython',
    'python3-etcd',
    'python3-pkg-resources',
  ],
  ...[
    'python3-prettytable',
    'python3-psutil',
    'python3-psycopg2',
    'python3-six',
    'python3-urllib3',
    'python3-wcwidth',
    'python3-yaml',
  ],
  ...['etcd-server', 'haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  ...['postgresql-15', 'postgresql-client-15', 'libpq5', 'patch'],
]
const python = '/usr/bin/python3'
const patroniFolder = 'usr/lib/python3/dist-packages'

/** The programs of the cluster, unpacked into a folder; nothing is installed. */
export type Programs = {
  etcd: string
  haproxy: string
  python: string
  postgres: string
  libraries: string
  /** PYTHONPATH of Patroni as Debian ships it. */
  shippedPatroni: string
  /** PYTHONPATH of Patroni with the lines of `patroni-3.0.2.patch`. */
  mendedPatroni: string
}

/**
 * Unpacks the packages, once for each list of them, below the folder of temporary files.
 * @param patch the path of `patroni-3.0.2.patch`
 * @throws Error that says what is missing on this machine
 */
export function preparePrograms(patch: string): Programs {
  for (const tool of ['apt-get', 'dpkg']) {
    if (spawnSync(tool, ['--version']).status !== 0)
      throw new Error(`The cluster needs ${tool}, which this machine has not`)
  }
  if (!existsSync(python)) throw new Error(`The cluster needs ${python}, which this machine has not`)
  const name = createHash('sha256').update(packages.join()).update(readFileSync(patch)).digest('hex').slice(0, 16)
  const folder = join(tmpdir(), `strongroom-cluster-packages-${name}`)
  if (!existsSync(folder)) unpack(folder, patch)
  // Another user of the machine could have made a folder of this name.
  if (lstatSync(folder).uid !== process.getuid!()) throw new Error(`${folder} belongs to somebody else; remove it`)
  const root = join(folder, 'root')
  const programs = {
    etcd: join(root, 'usr/bin/etcd'),
    haproxy: join(root, 'usr/sbin/haproxy'),
    python,
    postgres: join(root, 'usr/lib/postgresql/15/bin'),
    libraries: join(root, 'usr/lib/x86_64-linux-gnu'),
    shippedPatroni: join(root, patroniFolder),
    mendedPatroni: [join(folder, 'mended'), join(root, patroniFolder)].join(':'),
  }
  assertTheyStart(programs)
  return programs
}

function unpack(folder: string, patch: string): void {
  const made = mkdtempSync(`${folder}-`)
  try {
    const run = (command: string, ...words: string[]) =>
      execFileSync(command, words, { cwd: made, stdio: ['ignore', 'ignore', 'pipe'] })
    try {
      run('apt-get', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=15', 'download', ...packages)
    } catch (error) {
      throw new Error(
        `Debian's packages cannot be had (apt-get update may help): ${error instanceof Error ? error.message : error}`,
        { cause: error },
      )
    }
    for (const file of readdirSync(made).filter((entry) => entry.endsWith('.deb'))) run('dpkg', '-x', file, 'root')
    mkdirSync(join(made, 'mended'))
    cpSync(join(made, 'root', patroniFolder, 'patroni'), join(made, 'mended/patroni'), { recursive: true })
    run('root/usr/bin/patch', '--directory=mended', '--strip=1', '--fuzz=0', `--input=${patch}`)
    // PostgreSQL runs as an account of its own.
    chmodSync(made, 0o755)
    renameSync(made, folder)
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    throw error
  }
}

function assertTheyStart({ etcd, haproxy, postgres, libraries, mendedPatroni }: Programs): void {
  const env = {
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: libraries,
    PYTHONPATH: mendedPatroni,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  for (const [program, ...words] of [
    [etcd, '--version'],
    [haproxy, '-v'],
    [join(postgres, 'postgres'), '--version'],
    [python, '-s', '-c', 'import patroni.__main__, patroni.dcs.etcd3, psycopg2'],
  ] as [string, ...string[]][]) {
    const { status, stderr } = spawnSync(program, words, { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${program} does not start: ${stderr.trim().split('\n').at(-1)}`)
  }
}
