import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, Circle } from 'lucide-react'
import { useEffect, useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { type FirstRunStep, firstRunSteps } from './first-run-steps.ts'
import { firstRunQuery } from './queries.ts'

/** The steps that a new vault still needs. Once all are done, this browser does not ask again. */
export function FirstRun({ code }: { code: string }) {
  const storageKey = `strongroom.first-run.${code}`
  const [isOver, setOver] = useState(() => localStorage.getItem(storageKey) !== null)
  const { data: facts } = useQuery({ ...firstRunQuery(code), enabled: !isOver })
  const steps = facts === undefined ? [] : firstRunSteps(facts)
  const open = steps.filter(({ isDone }) => !isDone)
  const isComplete = steps.length > 0 && open.length === 0
  const finish = () => {
    localStorage.setItem(storageKey, 'done')
    setOver(true)
  }
  useEffect(() => {
    if (isComplete) localStorage.setItem(storageKey, 'done')
  }, [isComplete, storageKey])
  if (isOver || isComplete || steps.length === 0) return null
  return (
    <Card
      title={t('Set up this vault: {done} of {all}', { done: steps.length - open.length, all: steps.length })}
      actions={
        <Button look="quiet" onClick={finish}>
          {t('Hide')}
        </Button>
      }
    >
      <ol className="grid gap-x-6 gap-y-2 md:grid-cols-2">
        {steps.map((step) => (
          <Step key={step.key} code={code} step={step} />
        ))}
      </ol>
    </Card>
  )
}

function Step({ code, step: { key, title, isDone, hint, to } }: { code: string; step: FirstRunStep }) {
  const Icon = isDone ? Check : Circle
  return (
    <li className={`flex gap-3 ${isDone ? 'max-md:hidden' : ''}`}>
      <Icon
        size={18}
        aria-label={isDone ? t('done') : t('open')}
        className={`shrink-0 ${isDone ? 'text-good' : 'text-quiet'}`}
      />
      <div className="min-w-0">
        {isDone || to === null ? (
          <span className={isDone ? 'text-quiet' : 'font-medium'}>{title}</span>
        ) : (
          <Link to={`/v/${code}${to}` as '/'} className="font-medium text-accent underline">
            {title}
          </Link>
        )}
        {!isDone && <p className="text-[0.8125rem] text-quiet">{hint}</p>}
        {!isDone && key === 'mail' && <SendMail />}
      </div>
    </li>
  )
}

/** Tests the delivery of mail with a sign-in link to the reader, which the service can always send. */
function SendMail() {
  const { data: session } = useQuery(sessionQuery)
  const email = session?.user.email ?? null
  const send = useMutation({
    mutationFn: (to: string) => strongroom.auth.requestMagicLink({ email: to }),
    onSuccess: () =>
      announce(t('The mail is on its way. If it does not arrive, look at the mail settings of the service.')),
  })
  if (email === null) return null
  return (
    <>
      <Button look="quiet" busy={send.isPending} onClick={() => send.mutate(email)}>
        {t('Send a mail to {email}', { email })}
      </Button>
      <Problem error={send.error} />
    </>
  )
}
