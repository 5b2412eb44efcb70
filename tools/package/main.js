// npm run package [-- --output FOLDER]: makes the archive of the present commit. It builds a copy of that commit in a
// temporary folder, so that no other file of the checkout gets into the archive.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findClosure } from './closure.js'
import { findStale } from './find-stale.js'
import { pack } from './pack.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`package: ${error.message}\n`)
  process.exitCode = 1
}

function main(args) {
  if (args.length !== 0 && (args.length !== 2 || args[0] !== '--output')) {
    throw new Error('usage: npm run package [-- --output FOLDER]')
  }
  const output = resolve(root, args[1] ?? 'dist')
  if (git('status', '--porcelain') !== '') throw new Error('the working tree has changes; commit or undo them first')
  const stale = findStale(root, findClosure(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))))
  if (stale.length > 0) throw new Error(`run "npm ci" first:\n${stale.join('\n')}`)
  const commit = git('rev-parse', 'HEAD')
  const time = new Date(Number(git('log', '-1', '--format=%ct')) * 1_000)

  const copy = mkdtempSync(join(tmpdir(), 'strongroom-build-'))
  try {
    run(`git archive "$COMMIT" | tar -x -C "$COPY"`, { COMMIT: commit, COPY: copy })
    for (const folder of ['', 'server', 'wallet', 'sdk', 'conformance', 'demo', 'console']) {
      const modules = join(root, folder, 'node_modules')
      if (existsSync(modules)) execFileSync('cp', ['-a', modules, join(copy, folder)])
    }
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: copy, stdio: ['ignore', 'inherit', 'inherit'] })
    const { archive, sbom, sums } = pack({ root: copy, output, commit, time })
    const megabytes = (statSync(archive).size / 1_000_000).toFixed(1)
    for (const line of [`${archive} (${megabytes} MB)`, sbom, sums]) process.stdout.write(`${line}\n`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function run(script, env) {
  execFileSync('bash', ['-o', 'pipefail', '-c', script], { cwd: root, env: { ...process.env, ...env } })
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
