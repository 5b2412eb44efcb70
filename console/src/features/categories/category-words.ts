import type { OperationCategory } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import type { FieldType } from './field-body.ts'

export function appliesToWords(): Record<OperationCategory['appliesTo'], string> {
  return { both: t('Transfers and deposits'), transfer: t('Transfers'), deposit: t('Deposits') }
}

export function scopeWords(): Record<OperationCategory['viewScope'], string> {
  return {
    owner_only: t('Owner and initiator of the operation'),
    vault_members: t('Everybody who sees the operation'),
    restricted: t('Only people with a grant'),
  }
}

export function approvalScopeWords(): Record<OperationCategory['approvalScope'], string> {
  return {
    none: t('No votes'),
    edit: t('Votes on edits'),
    assign_and_edit: t('Votes on assignments and edits'),
  }
}

export function typeWords(): Record<FieldType, string> {
  return {
    text: t('Text'),
    number: t('Number'),
    currency: t('Amount of money'),
    select: t('Choice'),
    date: t('Date'),
    datetime: t('Date and time'),
    boolean: t('Yes or no'),
    url: t('Web address'),
  }
}
