import { useMutation } from '@tanstack/react-query'
import { t } from '../lib/language.ts'
import { nameOf } from '../lib/session.ts'
import { useSubjects } from '../lib/subjects.ts'
import type { Grant, Subject } from './grants.tsx'
import { announce } from './toast.tsx'

type Choice = { subject: Subject; canTransfer: boolean }
type NewGrant = { subjectType: Subject['type']; subjectId: string; canTransfer: boolean }
type Sharing = {
  create: (grant: NewGrant) => Promise<unknown>
  remove: (grantId: string) => Promise<unknown>
  /** Renews the queries that show with whom it is shared. */
  forget: () => void
}

/** Shares an object of the vault and ends the sharing. `form` holds the props of the form. */
export function useSharing(code: string, { create, remove, forget }: Sharing) {
  const { subjects, search, searching } = useSubjects(code)
  const share = useMutation({
    mutationFn: ({ subject, canTransfer }: Choice) =>
      create({ subjectType: subject.type, subjectId: subject.id, canTransfer }),
    onSuccess: (_, { subject }) => {
      forget()
      announce(t('Shared with {name}', { name: subject.name }))
    },
  })
  const revoke = useMutation({
    mutationFn: ({ id }: Grant) => remove(id),
    onSuccess: (_, { name }) => {
      forget()
      announce(t('No longer shared with {name}', { name }))
    },
  })
  const form = {
    subjects,
    search,
    searching,
    busy: share.isPending,
    error: share.error,
    share: (subject: Subject, canTransfer: boolean) => share.mutateAsync({ subject, canTransfer }),
  }
  return { revoke, form }
}

type Stored = Pick<Grant, 'id' | 'canTransfer' | 'createdAt'> & {
  subjectType: Subject['type']
  subject: Parameters<typeof nameOf>[0]
}

export function toGrant({ id, subject, subjectType, canTransfer, createdAt }: Stored): Grant {
  return { id, name: nameOf(subject), isGroup: subjectType === 'group', canTransfer, createdAt }
}
