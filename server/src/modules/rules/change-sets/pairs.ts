type Coded = { id: string; code: string }

/**
 * Returns the present object of each wanted object that has one: the object of its id, else the object of its code. No present
 * object belongs to two wanted objects: a code may since have passed to another object.
 */
export function pairsOf<Item extends Coded>(
  present: Item[],
  wanted: Item[],
  placeOf = (_: Item) => '',
): Map<Item, Item> {
  const pairs = new Map<Item, Item>()
  const taken = new Set<Item>()
  for (const name of ['id', 'code'] as const) {
    const keyOf = (item: Item) => `${item[name]} ${placeOf(item)}`
    const free = new Map(present.filter((item) => !taken.has(item)).map((item) => [keyOf(item), item]))
    for (const item of wanted) {
      const found = pairs.has(item) ? undefined : free.get(keyOf(item))
      if (found === undefined || taken.has(found)) continue
      taken.add(found)
      pairs.set(item, found)
    }
  }
  return pairs
}

/** An update of a present object: its wanted object, or a spare code until its own code is free. */
type Update<Item> = { present: Item; wanted: Item } | { present: Item; spareCode: string }

/**
 * Returns the updates of paired objects in an order in which each code is free when an object takes it. The holder of a code is
 * updated first. It gets a spare code when it waits for that code itself, or when it has no pair and is deleted at the end.
 */
export function inOrderOfCodes<Item extends Coded>(
  present: Item[],
  wanted: Item[],
  pairs: ReadonlyMap<Item, Item>,
): Update<Item>[] {
  const updates: Update<Item>[] = []
  const wantedOf = new Map([...pairs].map(([after, before]) => [before, after]))
  const holders = new Map(present.map((item) => [item.code, item]))
  const spareCodes = spareCodesBeside([...present, ...wanted])
  const begun = new Set<Item>()
  const update = (before: Item, after: Item) => {
    begun.add(before)
    free(after.code, before)
    updates.push({ present: before, wanted: after })
    if (holders.get(before.code) === before) holders.delete(before.code)
    holders.set(after.code, before)
  }
  const free = (code: string, taker: Item) => {
    const holder = holders.get(code)
    if (holder === undefined || holder === taker) return
    const after = wantedOf.get(holder)
    if (after !== undefined && !begun.has(holder)) return update(holder, after)
    updates.push({ present: holder, spareCode: spareCodes.next().value })
    holders.delete(code)
  }
  for (const [after, before] of pairs) if (!begun.has(before)) update(before, after)
  return updates
}

function* spareCodesBeside(items: Coded[]): Generator<string, never> {
  const codes = new Set(items.map(({ code }) => code))
  for (let i = 1; ; i += 1) if (!codes.has(`spare-${i}`)) yield `spare-${i}`
}
