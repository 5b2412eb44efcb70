import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import { expect, it } from 'vitest'
import { visitsOf } from './support/routes.ts'
import { consoleRoot } from './support/sources.ts'
import { startStack } from './support/stack.ts'
import { settled, watchPage } from './support/watched-page.ts'

type Picture = { width: number; height: number; data: Uint8Array }
/** It comes without types. */
const { PNG } = createRequire(import.meta.url)('pngjs') as { PNG: { sync: { read(file: Buffer): Picture } } }

const folder = join(consoleRoot, 'test/pictures')
const share = 0.001

/**
 * `npm run pictures -w console` takes the pictures that are missing and compares the others; delete one to renew it. What
 * differs at each start (ids, addresses, times, hashes) is blackened. Not part of the suite.
 */
it('the pages look as in their pictures', { timeout: 1_800_000 }, async () => {
  const stack = await startStack()
  mkdirSync(folder, { recursive: true })
  const differing: string[] = []
  const visits = (await visitsOf(stack)).filter(
    ({ path, route }, at, all) => isFirst(at, all, route) && path !== '/verify',
  )
  for (const theme of ['light', 'dark'] as const) {
    for (const width of [390, 1_440]) {
      for (const { route, path, person } of visits.slice(0, 20)) {
        const options = { viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: 'reduce' } as const
        const { page } = await watchPage(await stack.contextOf(person, options), stack.url)
        await page.goto(`${stack.url}${path}`)
        await settled(page)
        const mask = [page.locator('.code, time, svg, .figures, p')]
        const picture = await page.screenshot({ mask, maskColor: '#000' })
        const name = `${route.replaceAll('$', '')}-${theme}-${width}.png`
        if (isOther(join(folder, name), picture)) differing.push(name)
        await page.context().close()
      }
    }
  }
  await stack.stop()
  expect(differing).toEqual([])
})

function isFirst(at: number, all: readonly { route: string }[], route: string): boolean {
  return all.findIndex((visit) => visit.route === route) === at
}

/** Keeps the picture when there is none yet. */
function isOther(path: string, picture: Buffer): boolean {
  if (!existsSync(path)) {
    writeFileSync(path, picture)
    return false
  }
  const [old, now] = [PNG.sync.read(readFileSync(path)), PNG.sync.read(picture)]
  if (old.width !== now.width || old.height !== now.height) return true
  return pixelmatch(old.data, now.data, undefined, old.width, old.height) > share * old.width * old.height
}
