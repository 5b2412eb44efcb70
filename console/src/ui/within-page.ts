import { createContext } from 'react'

/** Whether something that can be a page of its own stands within another page: its headings are one level lower then. */
export const IsWithinPage = createContext(false)

/** Whether the page has its heading already. */
export const HasTitle = createContext(false)
