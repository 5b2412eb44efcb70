import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn } from '../demo/src/sign-in.ts'
import { type Demo, livingPids, root, startDemo, until } from '../demo/src/testing/demo.ts'
import { buildProject } from '../server/src/testing/build-project.ts'
import { bundledProgram } from '../server/src/testing/bundled-program.ts'
import { findMismatch, readSteps, runSteps } from './guides/walk.ts'

/** The tour of the API runs first, because it finds the demo as `npm start` leaves it. */
const tour = 'api-tour.md'
const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name.endsWith('.md') && name !== tour)
const folder = mkdtempSync(join(tmpdir(), 'strongroom-guides-'))
const dataDir = join(folder, 'my data')
const project = join(folder, 'project')
const commands = join(project, 'node_modules/.bin')

let demo: Demo

beforeAll(async () => {
  buildProject('build')
  linkProject(await bundledProgram('server/dist/cli/cli.js'))
  demo = await startDemo(dataDir)
  const admin = await signIn(demo.url, demo.link)
  const { balances } = admin.vault('treasury')
  await until(async () => (await balances.get({ summary: true })).totals.length === 2)
})

afterAll(async () => {
  demo?.process.kill('SIGTERM')
  await until(async () => livingPids(dataDir).length === 0)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('there is a guide for each kind of user, and the index of the docs names it', () => {
  const users = guides.map((name) => name.replace('.md', ''))
  expect(users.sort()).toEqual([
    'administrator',
    'approver',
    'auditor',
    'compliance',
    'integrator',
    'operator',
    'treasurer',
    'wallet-builder',
  ])
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
  for (const name of [...guides, tour]) expect(index).toContain(`(guides/${name})`)
})

it.each([tour, ...guides])(
  '%s is answered as written, request by request',
  async (name) => {
    const steps = readSteps(readFileSync(join(root, 'docs/guides', name), 'utf8'))
    expect(steps.filter(({ answer }) => answer !== null).length).toBeGreaterThanOrEqual(5)
    // The tour is what people try first: it starts the commands as they are installed.
    const isTour = name === tour
    const { HOME } = process.env
    const PATH = isTour ? process.env.PATH : `${commands}:${process.env.PATH}`
    const env = { PATH, HOME, DATA_DIR: dataDir, BASE: `${demo.url}/api/v1`, NODE_PORT: String(await findFreePort()) }
    const printed = await runSteps(steps, { cwd: isTour ? root : project, env })
    for (const [index, { line, answer }] of steps.entries()) {
      if (answer !== null) expect(findMismatch(answer, printed[index]!), `line ${line}`).toBeNull()
    }
  },
  420_000,
)

/**
 * Makes the folder of the project as the guides see it. Its command `strongroom` is joined to one file, and `npx` starts a command
 * at once: the guides start sixty, which would otherwise take a second of computing each.
 */
function linkProject(program: string): void {
  mkdirSync(commands, { recursive: true })
  const linkAll = (from: string, to: string, omitted: string) => {
    for (const name of readdirSync(from)) if (name !== omitted) symlinkSync(join(from, name), join(to, name))
  }
  linkAll(root, project, 'node_modules')
  linkAll(join(root, 'node_modules'), join(project, 'node_modules'), '.bin')
  linkAll(join(root, 'node_modules/.bin'), commands, 'strongroom')
  const write = (name: string, text: string) => writeFileSync(join(commands, name), text, { mode: 0o755 })
  write('strongroom', `#!/usr/bin/env node\nvoid import(${JSON.stringify(pathToFileURL(program).href)})\n`)
  write('npx', '#!/bin/sh\nexec "$@"\n')
}

/** For the node that the guide for operators starts beside the demo. */
function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
