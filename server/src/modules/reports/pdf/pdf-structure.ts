/**
 * The elements of the structure of a document (ISO 32000-1, 14.8.4): a screen reader announces them, and moves by them. `Div` groups
 * the values of a row that is drawn as a block.
 */
export type LeafType = 'H1' | 'H2' | 'H3' | 'P' | 'TH' | 'TD' | 'Figure'
export type GroupType = 'Table' | 'TR' | 'Div'

type Reference = PDFKit.PDFKitReference
/** An object of the file by its number, which is all that others need of it after it is written. */
type Numbered = { id: number; gen: number }
type Group = { reference: Reference; kids: Numbered[] }
type Leaf = { type: LeafType; reference: Reference; page: Reference; kids: unknown[] }
type Internals = {
  _root: { data: { StructTreeRoot: Reference & { data: { ParentTree: { add(key: number, value: unknown): void } } } } }
}

/**
 * The number of rows that have cells in the structure. Each cell is an object of about 130 bytes in the file, so that the cells of a
 * long statement would be most of it. The rows after them are text, one paragraph to a page.
 */
export const taggedRowsMax = 2_000

/**
 * Collects the structure of a document and writes its elements as soon as they are complete. Content is of one element or an artifact,
 * such as the head and the foot of a page, which is not read aloud. The methods return the operators between which the content is.
 */
export class Structure {
  readonly #pdf: PDFKit.PDFDocument
  readonly #document: Group
  readonly #groups: Group[] = []
  #leaf: Leaf | null = null
  #paused: Leaf | null = null
  #isRest = false
  #isArtifact = false
  #rows = 0
  #pages = 0
  /** The elements of the content of the current page, by the number of the content. */
  #owners: Numbered[] = []

  constructor(pdf: PDFKit.PDFDocument) {
    this.#pdf = pdf
    const reference = pdf.ref({ S: 'Document', P: this.#root() })
    this.#document = { reference, kids: [] }
  }

  /** Begins content that belongs to no element, unless an element is open. */
  artifact(): string {
    if (this.#leaf !== null || this.#isArtifact) return ''
    this.#isArtifact = true
    return '/Artifact BMC\n'
  }

  /** Begins an element with content. `attributes` are entries of its dictionary. */
  open(type: LeafType, attributes: Record<string, unknown> = {}): string {
    const ended = this.#end()
    this.#leaf = this.#leafOf(type, this.#groups.at(-1) ?? this.#document, attributes)
    return ended + this.#mark(this.#leaf)
  }

  close(): string {
    return this.#end()
  }

  openGroup(type: GroupType): void {
    const parent = this.#groups.at(-1) ?? this.#document
    const reference = this.#pdf.ref({ S: type, P: parent.reference })
    parent.kids.push(numberOf(reference))
    this.#groups.push({ reference, kids: [] })
  }

  closeGroup(): void {
    write(this.#groups.pop()!)
  }

  /** Returns true for a row that has cells, and counts it. */
  countRow(): boolean {
    this.#rows += 1
    return this.#rows <= taggedRowsMax
  }

  /** Begins the paragraph of the rows of a page that have no cells, if it is not begun. */
  rest(): string {
    if (this.#isRest) return ''
    const ended = this.#end()
    this.#leaf = this.#leafOf('P', this.#document, {})
    this.#isRest = true
    return ended + this.#mark(this.#leaf)
  }

  /** Ends the content of a page. An element that is open goes on on the next one. */
  leavePage(): string {
    this.#paused = this.#isRest ? null : this.#leaf
    if (this.#paused !== null) this.#leaf = null
    const operators = this.#paused === null ? this.#end() : 'EMC\n'
    const owners = this.#pdf.ref(this.#owners)
    owners.end(null)
    this.#root().data.ParentTree.add(this.#pages, numberOf(owners))
    this.#pages += 1
    this.#owners = []
    return operators
  }

  enterPage(): void {
    Object.assign(this.#pdf.page.dictionary.data, { StructParents: this.#pages })
  }

  /** Goes on with the element of the page before, behind the head of the new one. */
  resume(): string {
    if (this.#paused === null) return ''
    const ended = this.#end()
    this.#leaf = this.#paused
    return ended + this.#mark(this.#leaf)
  }

  end(): void {
    write(this.#document)
    Object.assign(this.#root().data, { K: [numberOf(this.#document.reference)], ParentTreeNextKey: this.#pages })
  }

  #root() {
    return (this.#pdf as unknown as Internals)._root.data.StructTreeRoot
  }

  #leafOf(type: LeafType, parent: Group, attributes: Record<string, unknown>): Leaf {
    const page = this.#pdf.page.dictionary
    const reference = this.#pdf.ref({ S: type, P: parent.reference, Pg: page, ...attributes })
    parent.kids.push(numberOf(reference))
    return { type, reference, page, kids: [] }
  }

  /** Begins content of an element. */
  #mark(leaf: Leaf): string {
    const MCID = this.#owners.length
    const { dictionary } = this.#pdf.page
    this.#owners.push(numberOf(leaf.reference))
    leaf.kids.push(dictionary === leaf.page ? MCID : { Type: 'MCR', Pg: dictionary, MCID })
    return `/${leaf.type} <</MCID ${MCID}>> BDC\n`
  }

  #end(): string {
    const isOpen = this.#isArtifact || this.#leaf !== null
    if (this.#leaf !== null) write(this.#leaf)
    this.#leaf = null
    this.#isArtifact = false
    this.#isRest = false
    return isOpen ? 'EMC\n' : ''
  }
}

function write({ reference, kids }: { reference: Reference; kids: readonly unknown[] }): void {
  Object.assign(reference.data, { K: kids.length === 1 ? kids[0] : kids })
  reference.end(null)
}

/** Returns a reference without its content, of which there may be hundreds of thousands. */
export function numberOf(reference: Numbered): Numbered {
  return Object.assign(Object.create(Object.getPrototypeOf(reference)), { id: reference.id, gen: reference.gen })
}
