import {
  ArrowLeftRight,
  ArrowUpRight,
  BookOpenCheck,
  BookUser,
  ChartColumn,
  CircleCheck,
  GitPullRequest,
  Hand,
  House,
  type LucideIcon,
  Rows3,
  Scale,
  ScrollText,
  Settings2,
  Tags,
  Users,
  Wallet,
} from 'lucide-react'
import { t } from '../../lib/language.ts'

type Viewing = { isAdmin: boolean; isAuditor: boolean; maySend: boolean }

/** A page of a vault in the sidebar. `phone` pages stand in the bar at the bottom of a phone; the others below "More". */
export type NavigationItem = {
  to: string
  label: string
  Icon: LucideIcon
  /** The second key after `g`. */
  hotkey?: string
  phone?: true
  /** Returns true if the viewer may see the page. Everybody may, if it is absent. */
  visible?: (viewer: Viewing) => boolean
}

/** Returns the pages of a vault in the order of the sidebar. `to` stands below /v/{code}. */
export function navigation(): NavigationItem[] {
  const reader = ({ isAdmin, isAuditor }: Viewing) => isAdmin || isAuditor
  return [
    { to: '', label: t('Home'), Icon: House, hotkey: 'h', phone: true },
    { to: '/approvals', label: t('Approvals'), Icon: CircleCheck, hotkey: 'p', phone: true },
    {
      to: '/send',
      label: t('Send'),
      Icon: ArrowUpRight,
      hotkey: 's',
      phone: true,
      visible: ({ maySend }) => maySend,
    },
    { to: '/payouts', label: t('Payouts'), Icon: Rows3 },
    { to: '/activity', label: t('Activity'), Icon: ArrowLeftRight, hotkey: 'a', phone: true },
    { to: '/addresses', label: t('Addresses'), Icon: Wallet, hotkey: 'd' },
    { to: '/address-book', label: t('Address book'), Icon: BookUser, hotkey: 'c' },
    { to: '/reports', label: t('Reports'), Icon: ChartColumn, hotkey: 'r' },
    { to: '/policies', label: t('Policies'), Icon: Scale, hotkey: 'l' },
    { to: '/rules', label: t('Rules of the vault'), Icon: GitPullRequest, visible: reader },
    { to: '/people', label: t('People'), Icon: Users, hotkey: 'o' },
    { to: '/holds', label: t('On hold'), Icon: Hand },
    { to: '/categories', label: t('Categories'), Icon: Tags, hotkey: 'k' },
    { to: '/books', label: t('Books'), Icon: BookOpenCheck, hotkey: 'b', visible: reader },
    { to: '/audit', label: t('Audit'), Icon: ScrollText, hotkey: 'u', visible: reader },
    { to: '/settings', label: t('Vault settings'), Icon: Settings2, hotkey: 'v' },
  ]
}
