import { groupsOfFour } from './address.tsx'

/** An address with the name of its holder, in groups of four. The characters that differ from the other address are marked. */
export function Compared({ name, address, other }: { name: string; address: string; other: string | undefined }) {
  return (
    <div>
      <dt className="text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">{name}</dt>
      <dd className="code flex flex-wrap gap-x-1.5">
        {marksOf(address, other).map((group, index) => (
          <span key={index}>
            {group.map(({ text, differs }, part) =>
              differs ? (
                <mark key={part} className="bg-bad font-bold text-paper">
                  {text}
                </mark>
              ) : (
                text
              ),
            )}
          </span>
        ))}
      </dd>
    </div>
  )
}

type Run = { text: string; differs: boolean }

/** Splits an address into groups of four, and each group into runs of equal and of different characters. */
export function marksOf(address: string, other: string | undefined): Run[][] {
  const compared = other?.toLowerCase()
  let at = 0
  return groupsOfFour(address).map((group) => {
    const runs: Run[] = []
    for (const text of group) {
      const differs = compared !== undefined && text.toLowerCase() !== compared[at]
      at += 1
      const last = runs.at(-1)
      if (last?.differs === differs) last.text += text
      else runs.push({ text, differs })
    }
    return runs
  })
}
