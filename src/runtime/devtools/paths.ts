/** The address of the API and the tab that is shown, as the URL of the page says them. */

/** The tabs in their order. Each is the hash of the URL. */
export const TABS = ['resources', 'access', 'requests', 'console'] as const

export type Tab = typeof TABS[number]

/** The base URL of the app, from the path of the page: `/shop/_auto-api/devtools` → `/shop`. */
export const baseOf = (pathname: string): string => pathname.replace(/\/_auto-api\/devtools(?:\/.*)?$/, '')

/** @param hash such as `#access`. Unknown tabs show the first one. */
export const tabOf = (hash: string): Tab => TABS.find(tab => `#${tab}` === hash) ?? TABS[0]
