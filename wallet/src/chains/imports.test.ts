import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Modules that ship, by their path below `src`, with what each imports. */
const modules = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.ts$/.test(path) && !/\.test\.ts$/.test(path) && !path.startsWith(`testing${sep}`))
  .map((path) => {
    const source = readFileSync(join(root, path), 'utf8')
    const imported = [...source.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, name]) => name!)
    const loaded = [...source.matchAll(/^(?:import|export) (?!type\b)[^']*?from '([^']+)'/gm)].map(([, name]) => name!)
    return { path: path.split(sep).join('/'), imported, loaded }
  })

const families = /(^|\/)chains\/(evm|bitcoin|solana)\/|^viem(\/|$)|^@scure\/btc-signer|^@solana/
const named = /^\.\.?\/(evm|bitcoin|solana)\//

test('transfers, deposits, the authority and webhooks know no family of networks', () => {
  const free = modules.filter(({ path }) => /^(transfers|deposits|authority|webhooks|accepted|keys)\//.test(path))
  expect(free.length).toBeGreaterThan(40)
  const wrong = free.flatMap(({ path, imported }) =>
    imported.filter((name) => families.test(name)).map((name) => `${path} imports ${name}`),
  )
  expect(wrong).toEqual([])
})

test('the library of a family is loaded when a network of it is opened, and not before', () => {
  const outside = modules.filter(({ path }) => !/^chains\/(evm|bitcoin|solana)\//.test(path))
  const wrong = outside.flatMap(({ path, loaded }) =>
    loaded
      .filter((name) => families.test(name) || (path.startsWith('chains/') && named.test(name)))
      .map((name) => `${path} loads ${name}`),
  )
  expect(wrong).toEqual([])
})
