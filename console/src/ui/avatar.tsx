import { useState } from 'react'
import { initialsOf, isOwnImage } from '../lib/images.ts'

type Props = {
  /**
   * The name, whose initials the avatar shows. It stands beside the avatar as text, so the avatar is hidden from screen
   * readers.
   */
  name: string
  image: string | null | undefined
  size?: 'small' | 'large'
}

/** The picture of a person or an object, or the initials of its name. */
export function Avatar({ name, image, size = 'small' }: Props) {
  const [broken, setBroken] = useState<string>()
  const look = `grid shrink-0 place-items-center overflow-hidden rounded-md border border-line bg-ground ${sizes[size]}`
  const shown = isOwnImage(image) && broken !== image ? image : null
  return (
    <span aria-hidden className={look}>
      {shown === null ? (
        <span className="font-medium text-quiet">{initialsOf(name)}</span>
      ) : (
        <img
          src={shown}
          alt=""
          loading="lazy"
          decoding="async"
          className="size-full object-contain"
          onError={() => setBroken(shown)}
        />
      )}
    </span>
  )
}

/** The avatar with its name. */
export function Named({ name, image }: Pick<Props, 'name' | 'image'>) {
  return (
    <span className="inline-flex items-center gap-2">
      <Avatar name={name} image={image} /> {name}
    </span>
  )
}

const sizes = { small: 'size-7 text-[0.6875rem]', large: 'size-16 text-xl' }
