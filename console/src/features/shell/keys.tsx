import { t } from '../../lib/language.ts'
import { Sheet } from '../../ui/sheet.tsx'
import type { NavigationItem } from './navigation.ts'

type KeysProps = { pages: readonly NavigationItem[]; onClose: () => void }

/** The list of keyboard shortcuts. */
export default function Keys({ pages, onClose }: KeysProps) {
  return (
    <Sheet title={t('Keyboard shortcuts')} open onClose={onClose} wide>
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        <Group title={t('Everywhere')} keys={everywhere(pages)} />
        <Group title={t('In lists')} keys={inLists()} />
        <Group title={t('On an approval')} keys={onApproval()} />
        <Group
          title={t('Pages')}
          keys={pages.flatMap(({ hotkey, label }) => (hotkey === undefined ? [] : [[['g', hotkey], label]]))}
        />
      </div>
    </Sheet>
  )
}

type Meaning = [keys: string[], what: string]

function everywhere(pages: readonly NavigationItem[]): Meaning[] {
  const maySend = pages.some(({ to }) => to === '/send')
  return [
    [['/'], t('Search')],
    ...(maySend ? [[['n'], t('Send')] satisfies Meaning] : []),
    [['?'], t('Keyboard shortcuts')],
    [['Esc'], t('Close what is open')],
  ]
}

const inLists = (): Meaning[] => [
  [['j'], t('Next row')],
  [['k'], t('Row before')],
  [['Enter'], t('Open the row')],
  [['t'], t('Change the category')],
  [['e'], t('Export')],
  [['x'], t('Select the address')],
  [['m'], t('Move what is selected to a folder')],
]

const onApproval = (): Meaning[] => [
  [['a'], t('Approve')],
  [['r'], t('Reject')],
]

function Group({ title, keys }: { title: string; keys: Meaning[] }) {
  return (
    <section>
      <h3 className="mb-1 font-medium">{title}</h3>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {keys.map(([pressed, what]) => (
          <div key={what} className="contents">
            <dt>
              {pressed.map((key) => (
                <kbd key={key} className="code me-1 inline-block rounded-sm border border-line px-1.5">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="text-quiet">{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
