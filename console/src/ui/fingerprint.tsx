/** A hash in groups of four digits, in which people compare it on two screens. */
export function Fingerprint({ hash }: { hash: string }) {
  return (
    <span className="code block max-w-[20ch] text-left whitespace-normal md:max-w-[40ch]">
      {hash.replace(/(.{4})(?=.)/g, '$1 ')}
    </span>
  )
}
