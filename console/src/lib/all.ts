/** Returns all items of a list that is short by its nature, such as tokens. Stops after `max` items. */
export async function allOf<Item>(list: AsyncIterable<Item>, max = 1_000): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length === max) break
  }
  return items
}
