import type { SignedVote } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { signAuthorityEnd } from '../../lib/sign-votes.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SignedDocument } from '../../ui/signed-order.tsx'
import { announce } from '../../ui/toast.tsx'
import type { VaultAuthority } from './queries.ts'

type CancelAuthorityProps = { code: string; authority: VaultAuthority; onDone: () => void; children: ReactNode }

/**
 * Collects the signatures that cancel the pending version. The service keeps no signatures: people pass them on to each
 * other.
 */
export default function CancelAuthority({ code, authority, onDone, children }: CancelAuthorityProps) {
  const client = useQueryClient()
  const user = useQuery(sessionQuery).data?.user.id
  const [text, setText] = useState('')
  const { pending, votesToCancel, change } = authority
  /**
   * Returns true if the pending version is gone. The page for signatures hands each signature to the wallet service,
   * which may already have enough.
   */
  const isNoLongerShown = async () => (await vaultOf(code).authority.get()).pending?.hash !== pending?.hash
  const cancel = useMutation({
    mutationFn: async (): Promise<{ votes: SignedVote[]; isHandedOver: boolean; isGone: boolean }> => {
      const others = readVotes(text)
      const isMissing = others.every(({ vote }) => vote.person !== user)
      const votes = isMissing ? [...others, await signAuthorityEnd(code, authority)] : others
      const isHandedOver = votes.length >= votesToCancel
      if (isHandedOver) await vaultOf(code).authority.cancel({ votes })
      return { votes, isHandedOver, isGone: isHandedOver || (await isNoLongerShown()) }
    },
    onSuccess: async ({ votes, isHandedOver, isGone }) => {
      setText(JSON.stringify(votes))
      if (!isGone) return
      announce(
        isHandedOver
          ? t('The version is cancelled and never comes into force.')
          : t('The service says that this version no longer waits.'),
      )
      onDone()
      await client.invalidateQueries({ queryKey: ['vault', code] })
    },
  })
  if (pending === null) return null
  const count = cancel.data?.votes.length ?? 0
  return (
    <>
      {children}
      <details className="my-3">
        <summary className="cursor-pointer text-quiet">{t('All details of this version')}</summary>
        <SignedDocument document={pending.document} />
      </details>
      <TextArea
        label={t('Signatures of this cancellation')}
        hint={
          count > 0
            ? t(
                '{count} of {votes} signed. Send this text to another person of {group}, who pastes it here and signs.',
                {
                  count,
                  votes: votesToCancel,
                  group: change.group,
                },
              )
            : t('If somebody has signed before you, paste here what they sent you.')
        }
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Problem error={cancel.error} />
      <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
        {t('Sign the cancellation')}
      </Button>
    </>
  )
}

/** @throws an error with a message for people if the text contains no signatures */
function readVotes(text: string): SignedVote[] {
  if (text.trim() === '') return []
  try {
    const votes = JSON.parse(text) as SignedVote[]
    if (votes.every(({ vote, signature }) => typeof vote.person === 'string' && typeof signature === 'string'))
      return votes
  } catch {}
  throw new Error(t('This text contains no signatures.'))
}
