import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

type Entry = { version?: string; integrity?: string; resolved?: string; link?: true; optional?: true; os?: string[] }

it('every package that is locked has an integrity, but for binaries of platforms that the registry did not have', async () => {
  const lock = JSON.parse(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8'))
  const packages = Object.entries(lock.packages as Record<string, Entry>).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  )
  const open = packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
  // npm installs these on their own platform only, and they are not for the platforms of the CI.
  expect(open.filter(([, { optional, os }]) => optional !== true || os === undefined)).toEqual([])
  expect(open.filter(([path]) => /linux-(x64|amd64|x64-gnu)$/.test(path))).toEqual([])
  // No entry names the host of a registry, because each installation configures its own.
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})
