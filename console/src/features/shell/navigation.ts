import { ArrowLeftRight, CircleCheck, House, type LucideIcon } from 'lucide-react'
import { CircleCheck, House, type LucideIcon, Scale } from 'lucide-react'
import { CircleCheck, House, type LucideIcon, Scale, Users } from 'lucide-react'
import { ArrowUpRight, BookUser, CircleCheck, House, type LucideIcon, Wallet } from 'lucide-react'
import { BookOpenCheck, ChartColumn, CircleCheck, House, type LucideIcon, ScrollText } from 'lucide-react'
import { t } from '../../lib/language.ts'

/** One page of a vault in the sidebar. `phone` pages stand in the bar at the bottom of a phone; the others below "More". */
export type NavigationItem = {
  to: string
  label: string
  Icon: LucideIcon
  /** The second key after `g`. */
  hotkey?: string
  phone?: true
  /** For those who may see it; everybody when absent. */
  visible?: (viewer: { isAdmin: boolean }) => boolean
}

/** The pages of a vault in the order of the sidebar. `to` stands below /v/{code}. */
export function navigation(): NavigationItem[] {
  return [
    { to: '', label: t('Home'), Icon: House, hotkey: 'h', phone: true },
    { to: '/approvals', label: t('Approvals'), Icon: CircleCheck, hotkey: 'p', phone: true },
    { to: '/activity', label: t('Activity'), Icon: ArrowLeftRight, hotkey: 'a', phone: true },
    { to: '/policies', label: t('Policies'), Icon: Scale, hotkey: 'l' },
    { to: '/people', label: t('People'), Icon: Users, hotkey: 'u' },
    { to: '/send', label: t('Send'), Icon: ArrowUpRight, hotkey: 's', phone: true },
    { to: '/addresses', label: t('Addresses'), Icon: Wallet, hotkey: 'd' },
    { to: '/address-book', label: t('Address book'), Icon: BookUser, hotkey: 'c' },
    { to: '/reports', label: t('Reports'), Icon: ChartColumn, hotkey: 'r' },
    { to: '/books', label: t('Books'), Icon: BookOpenCheck, hotkey: 'b', visible: ({ isAdmin }) => isAdmin },
    { to: '/audit', label: t('Audit'), Icon: ScrollText, hotkey: 'u', visible: ({ isAdmin }) => isAdmin },
  ]
}
