import type { ReplaceRoutesBody, Vault } from '@strongroom/sdk'

/** A segment of the derivation paths while it is edited. Ids are text, because people type them. */
export type RouteDraft = { code: string; name: string; dynamic: boolean; variants: VariantDraft[] }
export type VariantDraft = {
  id: string
  code: string
  name: string
  enabled: boolean
  token: string
  description: string | null
}

/** Returns the present structure: the networks first, then the routes in their order. */
export function draftOfStructure(vault: Vault, codeOfToken: (id: string) => string | null): RouteDraft[] {
  const networks = vault.networks.map(({ coinType, code, name }) => ({
    ...{ id: String(coinType), code, name, enabled: true, token: '', description: null },
  }))
  const routes = vault.routes.toSorted((a, b) => a.order - b.order)
  return [
    { code: 'network', name: 'Network', dynamic: false, variants: networks },
    ...routes.map(({ code, name, dynamic, variants }) => ({
      ...{ code, name, dynamic },
      variants: variants.map((variant) => ({
        id: String(variant.pathId),
        code: variant.code,
        name: variant.name,
        enabled: variant.enabled,
        token: variant.tokenId === null ? '' : (codeOfToken(variant.tokenId) ?? ''),
        description: variant.description,
      })),
    })),
  ]
}

/** Builds the body for the API. The order of the list is the order in the path. */
export function bodyOfStructure(routes: readonly RouteDraft[]): ReplaceRoutesBody {
  const entries = routes.map(({ code, name, dynamic, variants }, order) => {
    const values = variants.map(({ id, token, ...rest }) => ({
      ...{ id: Number(id), code: rest.code.trim(), name: rest.name.trim(), enabled: rest.enabled },
      ...{ description: rest.description, token: token === '' ? null : token },
    }))
    const route = { order, name: name.trim(), dynamic, ...(dynamic ? {} : { variants: values }) }
    return [code.trim(), route] as const
  })
  return { routes: Object.fromEntries(entries) }
}

export type StructureFault = 'needs_network' | 'two_dynamic' | 'same_code' | 'same_value' | 'incomplete'

/** Returns a fault that the service would refuse, before the structure is sent. */
export function faultOfStructure(routes: readonly RouteDraft[]): StructureFault | null {
  const codes = routes.map(({ code }) => code.trim())
  const isIncomplete = routes.some(
    ({ code, name, variants }) =>
      code.trim() === '' ||
      name.trim() === '' ||
      variants.some((variant) => !/^\d+$/.test(variant.id) || variant.code.trim() === '' || variant.name.trim() === ''),
  )
  if (isIncomplete) return 'incomplete'
  if (new Set(codes).size !== codes.length) return 'same_code'
  if ((routes.find(({ code }) => code === 'network')?.variants.length ?? 0) === 0) return 'needs_network'
  if (routes.filter(({ dynamic }) => dynamic).length > 1) return 'two_dynamic'
  const repeats = routes.some(({ variants }) => {
    const [ids, names] = [variants.map(({ id }) => Number(id)), variants.map(({ code }) => code.trim())]
    return new Set(ids).size !== ids.length || new Set(names).size !== names.length
  })
  return repeats ? 'same_value' : null
}

/** Returns the form of the paths: `m/44/<network>/<desk>/<index>`. */
export function pathFormOf(routes: readonly { code: string }[]): string {
  return ['m', '44', ...routes.map(({ code }) => `<${code.trim() === '' ? '…' : code.trim()}>`)].join('/')
}

/** Returns true if both URLs lead to the same service, so that the stored secret stays with it. */
export function isSameOrigin(before: string, after: string): boolean {
  return URL.canParse(before) && URL.canParse(after) && new URL(before).origin === new URL(after).origin
}
