import { createContext } from 'react'

/** True within another page. Headings are then one level lower. */
export const IsWithinPage = createContext(false)

/** True if the page already has its heading. */
export const HasTitle = createContext(false)
