import type { CreateVaultBody } from '@strongroom/sdk'

/** A division of a vault as a person writes it: a name, and the names of its values, separated by commas. */
export type Division = { name: string; values: string }
type ChosenNetwork = { coinType: number; code: string; name: string }
type Routes = CreateVaultBody['routes']

/** Builds the routes of a vault: its networks, its divisions in their order, and the index of the address. */
export function structureOf(networks: readonly ChosenNetwork[], divisions: readonly Division[]): Routes {
  const routes: Routes = {
    network: {
      order: 0,
      name: 'Network',
      variants: networks.map(({ coinType, code, name }) => ({ id: coinType, code, name })),
    },
  }
  for (const [index, { name, values }] of divisions.entries()) {
    // Paths never change: the value of a variant is its position, from 1.
    const variants = namesIn(values).map((value, position) => ({ id: position + 1, code: codeOf(value), name: value }))
    routes[codeOf(name)] = { order: index + 1, name: name.trim(), variants }
  }
  routes.index = { order: divisions.length + 1, name: 'Index', dynamic: true }
  return routes
}

export function namesIn(values: string): string[] {
  return values
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

/** The reason why a division cannot be used. */
export type DivisionFault = 'name' | 'values' | 'twice'
export function faultOfDivision(division: Division, others: readonly Division[]): DivisionFault | null {
  const code = codeOf(division.name)
  if (!isCode(code)) return 'name'
  if (['network', 'index'].includes(code) || others.some((other) => codeOf(other.name) === code)) return 'twice'
  const codes = namesIn(division.values).map(codeOf)
  if (codes.length === 0 || !codes.every(isCode)) return 'values'
  return new Set(codes).size < codes.length ? 'twice' : null
}

/** Turns a name into a code: "Treasury Desk" is "treasury-desk". */
export function codeOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
}

export function isCode(code: string): boolean {
  return /^[a-z0-9][a-z0-9-]{1,62}$/.test(code)
}
