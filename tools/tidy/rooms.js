// Checks that docs/architecture.md names the rooms of each domain, by level, and the tables that it writes, as the code
// has them.
import { tableNames, tableWrites } from './writers.js'

const rule = 'rooms'
const page = 'docs/architecture.md'
/** "- `domain`: room ← room, room. Tables: table, table. Triggers write table." over one or more lines. */
const item = /^- `([\w-]+)`: ([^.]*)\.\s+Tables: ([^.]*)\.(?:\s+Triggers write ([^.]*)\.)?/gm

/**
 * @param {import('./project.js').File[]} files
 * @param {Set<string>} paths
 * @param {string} migrations text of the migrations
 * @param {Record<string, { owner: string }>} shared tables that several domains write; each is listed for its owner
 * @param {Record<string, string[][]>} levels the rooms of domains by level, the lowest first
 * @returns {import('./project.js').Finding[]}
 */
export function checkRooms(files, paths, migrations, shared, levels = {}) {
  const known = tableNames(migrations)
  const writers = writersOf(files, migrations, shared)
  const items = itemsOf(files.find(({ path }) => path === page)?.text ?? '')
  const folders = foldersOf(paths)
  const domains = new Set([...folders.keys(), ...items.map(({ domain }) => domain)])
  return [...domains].flatMap((domain) => {
    const named = items.find((candidate) => candidate.domain === domain) ?? {
      line: 1,
      rooms: [],
      levels: [],
      tables: [],
    }
    const rooms = [...(folders.get(domain) ?? [])]
    const writes = [...writers.keys()].filter((table) => writers.get(table).has(domain))
    // If the name of a written table is a variable, its writer is unknown, and the name only has to be that of a table.
    const isOthers = (table) => !known.has(table) || (writers.has(table) && !writes.includes(table))
    return [
      ...without(rooms, named.rooms).map((room) => `the room ${room} of ${domain} is not named`),
      ...without(named.rooms, rooms).map((room) => `${domain} has no room ${room}`),
      ...differenceOfLevels(domain, levels[domain], named.levels),
      ...without(writes, named.tables).map((table) => `${domain} writes ${table}, which is not named`),
      ...named.tables.filter(isOthers).map((table) => `${domain} does not write ${table}`),
    ].map((message) => ({ file: page, line: named.line, rule, message }))
  })
}

/** Compares the levels of tools/rooms.cjs with those of the page. */
function differenceOfLevels(domain, levels, named) {
  if (levels === undefined) return []
  const written = (some) => some.map((names) => [...names].sort().join(', ')).join(' ← ')
  return written(levels) === written(named) ? [] : [`the levels of ${domain} are ${written(levels)}`]
}

function itemsOf(text) {
  return [...text.matchAll(item)].map(({ index, 1: domain, 2: rooms, 3: tables, 4: byTriggers = '' }) => ({
    domain,
    line: text.slice(0, index).split('\n').length,
    rooms: namesIn(rooms.replaceAll('←', ',')),
    levels: rooms.split('←').map(namesIn),
    tables: namesIn(`${tables}, ${byTriggers}`),
  }))
}

/** Returns the domains that write each table. A shared table has its owner only. */
function writersOf(files, migrations, shared) {
  const writers = new Map()
  for (const { table, domain } of tableWrites(files, migrations)) {
    writers.set(table, (writers.get(table) ?? new Set()).add(shared[table]?.owner ?? domain))
  }
  return writers
}

/** Returns the rooms of each domain. */
function foldersOf(paths) {
  const rooms = new Map()
  for (const path of paths) {
    const [, domain, room] = /^server\/src\/modules\/([^/]+)\/([^/]+)\//.exec(path) ?? []
    if (domain !== undefined) rooms.set(domain, (rooms.get(domain) ?? new Set()).add(room))
  }
  return rooms
}

const namesIn = (list) => list.split(/[,\s]+/).filter(Boolean)
const without = (some, others) => some.filter((name) => !others.includes(name))
