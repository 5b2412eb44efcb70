import { beforeAll, describe, expect, it } from 'vitest'
import { type Visit, visitsOf } from './support/routes.ts'
import type { Person, Stack } from './support/stack.ts'
import { axeViolations, overflowOf, settled, watchPage } from './support/watched-page.ts'

type Look = { theme: 'light' | 'dark'; width: 390 | 1_440 }

const looks: Look[] = [
  { theme: 'light', width: 1_440 },
  { theme: 'dark', width: 390 },
  { theme: 'light', width: 390 },
  { theme: 'dark', width: 1_440 },
]

/** In the suite each page is seen in one look, the next page in the next; `npm run nightly:console` shows each in all. */
const isWhole = process.env.CONSOLE_LOOKS === 'all'

export function pagesAreSound(stack: () => Stack): void {
  describe('every page', () => {
    let visits: Visit[]

    beforeAll(async () => {
      visits = await visitsOf(stack())
    })

    it.each(looks.map((look, index) => ({ ...look, index })))(
      'has one title, and no fault that axe-core, the content policy, the console or its width shows: $theme, $width pixels',
      async ({ index, ...look }) => {
        const seen = visits.filter((_, at) => isWhole || at % looks.length === index)
        expect(seen.length).toBeGreaterThan(0)
        const faults: string[] = []
        for (const person of new Set(seen.map((visit) => visit.person))) {
          const pages = seen.filter((visit) => visit.person === person)
          faults.push(...(await faultsOf(stack(), person, pages, look)))
        }
        expect(faults).toEqual([])
      },
    )
  })
}

async function faultsOf(stack: Stack, person: Person, visits: Visit[], { theme, width }: Look): Promise<string[]> {
  const options = { viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: 'reduce' } as const
  const context = await stack.contextOf(person, options)
  const { page, faults } = await watchPage(context, stack.url)
  const found: string[] = []
  for (const { path } of visits) {
    await page.goto(`${stack.url}${path}`)
    const state = await settled(page).catch(() => 'does not finish loading')
    const overflow = await overflowOf(page)
    const violations = await axeViolations(page)
    const faultsOfPage = [...(state === undefined ? [] : [state]), ...violations, ...faults.splice(0)]
    const headings = await page.locator('h1').count()
    if (headings !== 1) faultsOfPage.push(`has ${headings} headings of the first level`)
    if (overflow > 0) faultsOfPage.push(`stands ${overflow} pixels beyond the edge`)
    found.push(...faultsOfPage.map((fault) => `${person} ${theme} ${width} ${path}: ${fault}`))
  }
  await context.close()
  return found
}
