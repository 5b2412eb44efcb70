import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

type Entry = {
  version?: string
  integrity?: string
  resolved?: string
  link?: true
  optional?: true
  os?: string[]
  engines?: { node?: string }
}

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

it.each(['20.19.0', '22.13.0', '24.0.0', '26.0.0'])(
  'every package that is locked runs on Node.js %s',
  async (version) => {
    const lock = JSON.parse(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8'))
    const packages = Object.entries(lock.packages as Record<string, Entry>)
    const refusing = packages.filter(([, { engines }]) => engines?.node !== undefined && !admits(engines.node, version))
    expect(refusing.map(([path, { engines }]) => `${path} wants ${engines!.node}`)).toEqual([])
    expect(admits('>=22', '20.19.0')).toBe(false)
    expect(admits('^20.12||^22.13||>=24.0', '22.12.0')).toBe(false)
  },
)

/** Returns true if a range of versions, as packages write it in `engines`, admits this version. */
function admits(range: string, version: string): boolean {
  return range.split('||').some((alternative) =>
    [...alternative.matchAll(/(>=|<|\^|~|=|)\s*v?([\d.x*]+)(?:-\S+)?/g)].every(([, sign, text]) => {
      const [bound, actual] = [text!, version].map((value) => value.split('.').map((part) => Number(part) || 0))
      const order = compare(actual!, bound!)
      if (sign === '<') return order < 0
      const isSame = (count: number) => bound!.slice(0, count).every((part, index) => part === actual![index])
      if (sign === '^') return order >= 0 && isSame(1)
      if (sign === '~') return order >= 0 && isSame(2)
      return sign === '>=' || text === '*' ? order >= 0 : isSame(text!.split('.').length)
    }),
  )
}

function compare(left: number[], right: number[]): number {
  const differing = [0, 1, 2].map((index) => (left[index] ?? 0) - (right[index] ?? 0))
  return differing.find((difference) => difference !== 0) ?? 0
}
