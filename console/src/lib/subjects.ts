import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useDebounced } from './debounced.ts'
import { groupsQuery, memberSearchQuery } from './membership.ts'

type Found = { type: 'user' | 'group'; id: string; name: string }

/** Finds the members and groups with whom something can be shared, by the typed text. */
export function useSubjects(code: string) {
  const [text, search] = useState('')
  const settled = useDebounced(text)
  const members = useQuery(memberSearchQuery(code, settled))
  const groups = useQuery(groupsQuery(code))
  const fits = (name: string) => name.toLowerCase().includes(settled.toLowerCase())
  const subjects: Found[] = [
    ...(groups.data ?? [])
      .filter(({ name }) => fits(name))
      .map(({ id, name }) => ({ type: 'group' as const, id, name })),
    ...(members.data ?? []).map(({ userId, name }) => ({ type: 'user' as const, id: userId, name })),
  ]
  return { subjects, search, searching: members.isPending || settled !== text }
}
