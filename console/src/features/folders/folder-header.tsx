import type { AddressGroup } from '@strongroom/sdk'
import { Pencil, Share2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { FolderSharing } from './folder-sharing.tsx'
import { DeleteFolder, FolderForm } from './folder-sheets.tsx'

type Props = { code: string; folder: AddressGroup; deleted: () => void }

/** The actions on the open folder. */
export function FolderHeader({ code, folder, deleted }: Props) {
  const [shown, show] = useState<'edit' | 'share' | 'delete' | null>(null)
  const close = () => show(null)
  const isManager = folder.access === 'manager'
  return (
    <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
      <div>
        <h2 className="text-lg">{folder.name}</h2>
        {folder.description !== null && <p className="text-quiet">{folder.description}</p>}
        {folder.access === 'granted' && (
          <p className="text-quiet">{t('Shared with you; its manager decides what is in it.')}</p>
        )}
      </div>
      {folder.access !== 'granted' && (
        <div className="flex flex-wrap gap-2">
          <Button icon={<Share2 size={16} aria-hidden />} onClick={() => show('share')}>
            {folder.sharing.isShared
              ? t('{count, plural, one {Shared with # person} other {Shared with # people}}', {
                  count: folder.sharing.participantCount,
                })
              : t('Share')}
          </Button>
          {isManager && (
            <>
              <Button icon={<Pencil size={16} aria-hidden />} onClick={() => show('edit')}>
                {t('Edit')}
              </Button>
              <Button look="danger" icon={<Trash2 size={16} aria-hidden />} onClick={() => show('delete')}>
                {t('Delete')}
              </Button>
            </>
          )}
        </div>
      )}
      <Sheet title={t('Edit {folder}', { folder: folder.name })} open={shown === 'edit'} onClose={close}>
        <FolderForm code={code} folder={folder} done={close} />
      </Sheet>
      <Sheet title={t('Sharing of {folder}', { folder: folder.name })} open={shown === 'share'} onClose={close}>
        <FolderSharing code={code} folder={folder} />
      </Sheet>
      <DeleteFolder code={code} folder={folder} open={shown === 'delete'} onClose={close} deleted={deleted} />
    </div>
  )
}
