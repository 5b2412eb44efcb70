import { expect } from 'vitest'
import { readObjects, textsOf } from './read-files.ts'

/** An element of the structure of a PDF with what a screen reader reads. */
export type Element = { type: string; head: string; text: string; elements: Element[] }

type Objects = ReturnType<typeof readObjects>

/**
 * Returns the structure of a PDF from its root. It fails when a text is neither content of an element nor an artifact, when content is
 * of no element or of two, and when the tree of parents names another element than the one that has the content.
 */
export function readStructure(bytes: Buffer): Element {
  const objects = readObjects(bytes)
  const head = (number: string) => objects.objects.get(number)!.head
  const catalog = [...objects.objects.values()].find(({ head }) => head.includes('/Type /Catalog'))!.head
  expect(catalog).toMatch(/\/Lang \(/)
  expect(head(referenceIn(catalog, 'MarkInfo'))).toContain('/Marked true')
  expect(head(referenceIn(catalog, 'ViewerPreferences'))).toContain('/DisplayDocTitle true')
  const root = head(referenceIn(catalog, 'StructTreeRoot'))
  const contents = contentsOf(objects, root)
  const read = (number: string, parent: string): Element => {
    const element = head(number)
    expect(referenceIn(element, 'P'), `parent of ${number}`).toBe(parent)
    const page = /\/Pg (\d+) 0 R/.exec(element)?.[1]
    const kids = /\/K (\[.*?\]|\d+(?: 0 R)?)(?=\n>>|\n\/)/s.exec(element)![1]!
    const elements: Element[] = []
    let text = ''
    const kid = /<<[^<>]*\/Pg (\d+) 0 R[^<>]*\/MCID (\d+)[^<>]*>>|(\d+) 0 R|(\d+)/g
    for (const [, otherPage, otherId, kidNumber, id] of kids.matchAll(kid)) {
      if (kidNumber !== undefined) elements.push(read(kidNumber, number))
      else {
        const content = contents.get(`${otherPage ?? page} ${otherId ?? id}`)!
        expect(content.owner, `the element of ${content.text}`).toBe(number)
        contents.delete(`${otherPage ?? page} ${otherId ?? id}`)
        text += `${text === '' ? '' : ' '}${content.text}`
      }
    }
    return { type: /\/S \/(\w+)/.exec(element)![1]!, head: element, text, elements }
  }
  const rootNumber = referenceIn(catalog, 'StructTreeRoot')
  const document = read(/\/K \[(\d+) 0 R\]/.exec(root)![1]!, rootNumber)
  expect([...contents.keys()], 'content without an element').toEqual([])
  return document
}

/** Returns the marked content of all pages by page and number, with the element that the tree of parents has for it. */
function contentsOf({ objects, fonts }: Objects, root: string): Map<string, { text: string; owner: string }> {
  const owners = new Map(
    [...root.matchAll(/^\s*(\d+) (\d+) 0 R$/gm)].map(([, key, number]) => [key!, objects.get(number!)!.head]),
  )
  const contents = new Map<string, { text: string; owner: string }>()
  for (const [number, { head }] of objects) {
    if (!/\/Type \/Page\n/.test(head)) continue
    const ownersOfPage = [...owners.get(/\/StructParents (\d+)/.exec(head)![1]!)!.matchAll(/(\d+) 0 R/g)]
    const { stream } = objects.get(referenceIn(head, 'Contents'))!
    const marked = /^\/(\w+) (?:BMC|<<\/MCID (\d+)>> BDC)$\n(.*?)^EMC$/gms
    for (const [, tag, id, content] of stream.matchAll(marked)) {
      if (id === undefined) expect(tag).toBe('Artifact')
      else {
        const text = textsOf(content!, fonts).map((drawn) => drawn.text)
        contents.set(`${number} ${id}`, { text: text.join(' '), owner: ownersOfPage[Number(id)]![1]! })
      }
    }
    expect(stream.replaceAll(marked, ''), 'neither content nor an artifact').not.toMatch(/ (Tj|TJ|f|S|Do)\b/)
  }
  return contents
}

const referenceIn = (head: string, key: string) => new RegExp(`/${key} (\\d+) 0 R`).exec(head)![1]!
