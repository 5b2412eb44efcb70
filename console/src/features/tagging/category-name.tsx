export type NamedCategory = { name: string; emoji: string | null; color: string | null }

/** The name of a category with its emoji, or its colour as a dot. */
export function CategoryName({ category: { name, emoji, color } }: { category: NamedCategory }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      {emoji !== null && <span aria-hidden>{emoji}</span>}
      {emoji === null && color !== null && (
        <span
          aria-hidden
          className="size-2.5 rounded-full"
          ref={(dot) => dot?.style.setProperty('background', color)}
        />
      )}
      {name}
    </span>
  )
}
