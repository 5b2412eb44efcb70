import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const consoleRoot = fileURLToPath(new URL('../../', import.meta.url))

/** The paths of what the console is made of, without its tests. */
export function sourcePaths(): string[] {
  const folder = join(consoleRoot, 'src')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.ts$|\.gen\.ts$/.test(name))
    .map((name) => join(folder, name))
}

export function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}

/** Where a node stands, for a message that leads there. */
export function placeOf(node: ts.Node): string {
  const source = node.getSourceFile()
  const { line } = source.getLineAndCharacterOfPosition(node.getStart())
  return `${source.fileName.slice(consoleRoot.length)}:${line + 1}`
}
