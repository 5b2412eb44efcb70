import type { OwnProfile } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { strongroom } from '../../lib/api.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { chooseLanguage, type Language, languageNow, languages, t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import { chooseTheme, type Theme, themeNow } from '../../lib/theme.ts'
import { zone } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { ImageField } from '../../ui/image-field.tsx'
import { DetailState, Failed } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { Accounts } from './accounts.tsx'
import { Kept } from './kept.tsx'
import { Passkeys } from './passkeys.tsx'
import { profileQuery } from './queries.ts'
import { Sessions } from './sessions.tsx'

/** The settings of the reader. */
export function MePage() {
  const query = useQuery(profileQuery)
  return (
    <Page title={t('Me')}>
      <DetailState query={query}>
        {query.data !== undefined && (
          <>
            <ProfileCard profile={query.data} />
            <Notifications profile={query.data} />
          </>
        )}
      </DetailState>
      <Looks />
      <Passkeys />
      <Sessions />
      <Accounts />
    </Page>
  )
}

type Values = { name: string; username: string; emoji: string; color: string }

function ProfileCard({ profile }: { profile: OwnProfile }) {
  const client = useQueryClient()
  const { register, handleSubmit, formState, reset } = useForm<Values>({ defaultValues: valuesOf(profile) })
  const save = useMutation({
    mutationFn: ({ name, username, emoji, color }: Values) =>
      strongroom.me.update({
        name: name.trim() || null,
        username: username.trim() || null,
        emoji: emoji.trim() || null,
        color: color.trim() || null,
      }),
    onSuccess: (saved) => {
      client.setQueryData(profileQuery.queryKey, saved)
      void client.invalidateQueries({ queryKey: ['session'] })
      reset(valuesOf(saved))
      announce(t('Your profile is saved.'))
    },
  })
  const errors = errorsOfFields(save.error, ['name', 'username', 'emoji', 'color'])
  return (
    <Card title={t('Profile')}>
      <div className="mb-4">
        <Facts facts={[[t('E-mail address'), profile.email]]} />
      </div>
      <ImageField
        name={nameOf(profile)}
        image={profile.image}
        replace={(image) => strongroom.me.replaceImage(image)}
        remove={() => strongroom.me.deleteImage()}
        renews={[profileQuery.queryKey, ['session']]}
      />
      <form onSubmit={handleSubmit((values) => save.mutate(values))}>
        <div className="grid gap-x-4 sm:grid-cols-2">
          <TextField label={t('Name')} autoComplete="name" error={errors.name ?? null} {...register('name')} />
          <TextField
            label={t('Short name')}
            hint={t('Without spaces. No other user may have the same short name.')}
            autoComplete="username"
            error={errors.username ?? null}
            {...register('username')}
          />
          <TextField label={t('Emoji')} error={errors.emoji ?? null} {...register('emoji')} />
          <TextField
            label={t('Colour')}
            hint={t('In hexadecimal digits: #1d4ed8')}
            error={errors.color ?? null}
            {...register('color')}
          />
        </div>
        {save.isError && Object.keys(errors).length === 0 && (
          <div className="mb-4">
            <Failed error={save.error} retry={handleSubmit((values) => save.mutate(values))} />
          </div>
        )}
        <Button
          type="submit"
          look="primary"
          busy={save.isPending}
          disabledBecause={formState.isDirty ? null : t('Nothing has changed.')}
        >
          {t('Save')}
        </Button>
      </form>
    </Card>
  )
}

function valuesOf({ name, username, emoji, color }: OwnProfile): Values {
  return { name: name ?? '', username: username ?? '', emoji: emoji ?? '', color: color ?? '' }
}

function Notifications({ profile: { notifications } }: { profile: OwnProfile }) {
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (changed: Partial<OwnProfile['notifications']>) => strongroom.me.update({ notifications: changed }),
    onSuccess: (saved) => {
      client.setQueryData(profileQuery.queryKey, saved)
      announce(t('Saved.'))
    },
  })
  return (
    <Card title={t('Mails')}>
      <CheckField
        label={t('When my vote is needed')}
        checked={notifications.approvals}
        disabled={save.isPending}
        onChange={({ target }) => save.mutate({ approvals: target.checked })}
      />
      <CheckField
        label={t('When my request was decided')}
        checked={notifications.decisions}
        disabled={save.isPending}
        onChange={({ target }) => save.mutate({ decisions: target.checked })}
      />
      <p className="text-quiet">{t('You always get mails about sign-ins on new devices.')}</p>
      {save.isError && <Failed error={save.error} retry={() => save.reset()} />}
    </Card>
  )
}

/** The settings of this browser: theme and language of the console. */
function Looks() {
  const [theme, setTheme] = useState<Theme>(themeNow())
  return (
    <Card title={t('This browser')}>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <SelectField
          label={t('Look')}
          value={theme}
          onChange={({ target }) => {
            chooseTheme(target.value as Theme)
            setTheme(target.value as Theme)
          }}
        >
          <option value="system">{t('Same as the device')}</option>
          <option value="light">{t('Light')}</option>
          <option value="dark">{t('Dark')}</option>
        </SelectField>
        <SelectField
          label={t('Language')}
          value={languageNow()}
          onChange={({ target }) => chooseLanguage(target.value as Language)}
        >
          {Object.entries(languages).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <Facts facts={[[t('Time zone'), zone.replaceAll('_', ' ')]]} />
      <Kept theme={theme} />
    </Card>
  )
}
