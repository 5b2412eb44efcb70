import { describe, expect, it } from 'vitest'
import { formatDerivationPath, parseDerivationPath } from './derivation.ts'

const ops = { pathId: 1, enabled: true }
const retired = { pathId: 2, enabled: false }
const purpose = { code: 'purpose', dynamic: false, variants: [ops, retired] }
const index = { code: 'index', dynamic: true, variants: [] }
const ethereum = { coinType: 60 }
const structure = { networks: [{ coinType: 0 }, ethereum], routes: [purpose, index] }

describe('parseDerivationPath', () => {
  it('finds network, route and variant of each segment', () => {
    expect(parseDerivationPath('m/44/60/1/7', structure)).toEqual({
      network: ethereum,
      segments: [
        { route: purpose, pathId: 1, variant: ops },
        { route: index, pathId: 7, variant: null },
      ],
    })
  })

  it.each(['m/44/60/2/0', 'm/44/0/1/2147483647'])('accepts %s', (path) => {
    expect(parseDerivationPath(path, structure)).toHaveProperty('segments')
  })

  it('reads a dynamic segment wherever it stands', () => {
    const parsed = parseDerivationPath('m/44/60/9/1', { ...structure, routes: [index, purpose] })
    expect(parsed).toMatchObject({
      segments: [
        { pathId: 9, variant: null },
        { pathId: 1, variant: ops },
      ],
    })
  })

  it.each([
    ['', 'must begin with m/44/'],
    ['m/49/60/1/0', 'must begin with m/44/'],
    ['M/44/60/1/0', 'must begin with m/44/'],
    [' m/44/60/1/0', 'must begin with m/44/'],
    ["m/44'/60'/1/0", 'must begin with m/44/'],
    ['m/44/', 'the coin type must be'],
    ['m/44/060/1/0', 'the coin type must be'],
    ['m/44/-60/1/0', 'the coin type must be'],
    ['m/44/2147483648/1/0', 'the coin type must be'],
    ['m/44/501/1/0', 'coin type 501 is not connected'],
    ['m/44/60', 'has 0 segments'],
    ['m/44/60/1', 'has 1 segments'],
    ['m/44/60/1/0/', 'has 3 segments'],
    ['m/44/60/1/0/0', 'has 3 segments'],
    ['m/44/60/3/0', 'segment purpose has no variant 3'],
    ['m/44/60/01/0', 'the value of segment purpose must be'],
    ['m/44/60/1/2147483648', 'the value of segment index must be'],
    ['m/44/60/1/99999999999999999999', 'the value of segment index must be'],
    ['m/44/60/1/1e3', 'the value of segment index must be'],
    ['m/44/60/1/0x1', 'the value of segment index must be'],
    ["m/44/60/1/0'", 'the value of segment index must be'],
    ['m/44/60/1/', 'the value of segment index must be'],
    ['m/44/60/1/٣', 'the value of segment index must be'],
  ])('refuses %j: %s', (path, fault) => {
    const outcome = parseDerivationPath(path, structure)
    expect(outcome).toHaveProperty('fault')
    expect((outcome as { fault: string }).fault).toContain(fault)
  })

  it('reads paths of formatDerivationPath', () => {
    expect(parseDerivationPath(formatDerivationPath(60, [2, 41]), structure)).toMatchObject({
      segments: [{ pathId: 2 }, { pathId: 41 }],
    })
  })
})
