import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { type Visit, visitsOf } from './support/routes.ts'
import { readPicture, smallOf, writePicture } from './support/small-picture.ts'
import { consoleRoot } from './support/sources.ts'
import { startStack } from './support/stack.ts'
import { settled, watchPage } from './support/watched-page.ts'

const folder = join(consoleRoot, 'test/pictures')
const renews = process.env.PICTURES === 'renew'
/** The share of the points that may differ. Times and figures of another day leave small differences. */
const share = 0.02

/**
 * `npm run pictures -w console` compares twenty pages in both themes and widths with what is kept of their pictures, and keeps
 * those that are missing; `npm run pictures:renew -w console` keeps all anew. Not part of the suite.
 */
it('the pages look as in their pictures', { timeout: 1_800_000 }, async () => {
  const stack = await startStack()
  mkdirSync(folder, { recursive: true })
  const now = mkdtempSync(join(tmpdir(), 'strongroom-pictures-'))
  const visits = (await visitsOf(stack)).filter(isShown).slice(0, 20)
  const differing: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    for (const width of [390, 1_440]) {
      const options = { viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: 'reduce' } as const
      for (const person of new Set(visits.map((visit) => visit.person))) {
        const { page } = await watchPage(await stack.contextOf(person, options), stack.url)
        for (const { route, path } of visits.filter((visit) => visit.person === person)) {
          await page.goto(`${stack.url}${path}`)
          await settled(page)
          const name = `${route.replaceAll('$', '')}-${theme}-${width}.png`
          const picture = await pictureOf(page)
          writeFileSync(join(now, name), picture)
          if (isOther(join(folder, name), picture)) differing.push(name)
        }
        await page.context().close()
      }
    }
  }
  await stack.stop()
  expect(differing, `Their pictures as they are now: ${now}`).toEqual([])
})

/** The first visit of each page, but of the one whose content is a file that is dropped there. */
function isShown({ route }: Visit, at: number, all: readonly Visit[]): boolean {
  return route !== 'verify' && all.findIndex((visit) => visit.route === route) === at
}

/** Values that differ at each start are made the same or blackened: figures, ids, addresses, hashes, times and drawings of them. */
async function pictureOf(page: Page): Promise<Buffer> {
  await page.evaluate(`{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode() !== null) {
      const { data } = texts.currentNode
      if (/\\d/.test(data)) texts.currentNode.data = data.replace(/\\b[a-z0-9]{24,}\\b|\\d/g, (found) => '0'.repeat(found.length))
    }
  }`)
  const mask = [page.locator('.code, time, .figures, .plot, svg[viewBox]:not(.lucide)')]
  return await page.screenshot({ mask, maskColor: '#888' })
}

/** Keeps the picture when there is none yet, or all are kept anew. */
function isOther(path: string, picture: Buffer): boolean {
  const small = smallOf(readPicture(picture))
  if (renews || !existsSync(path)) {
    writeFileSync(path, writePicture(small))
    return false
  }
  const old = readPicture(readFileSync(path))
  if (old.width !== small.width || old.height !== small.height) return true
  return pixelmatch(old.data, small.data, undefined, old.width, old.height) > share * old.width * old.height
}
