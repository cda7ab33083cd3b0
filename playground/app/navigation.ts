/** The pages of the navigation: those of the newspaper, and those that show one feature of the API each. */
import type { NavigationMenuItem } from '@nuxt/ui'

export const PAGES = [
  { to: '/', label: 'Front page', icon: 'i-lucide-newspaper', exact: true },
  { to: '/desk', label: 'Desk', icon: 'i-lucide-pen-line' },
  { to: '/discussion', label: 'Discussion', icon: 'i-lucide-messages-square' },
] satisfies NavigationMenuItem[]

export const DEVELOPERS = [
  { to: '/explore', label: 'Explore', icon: 'i-lucide-telescope', description: 'Build a query, read its SQL and its response' },
  { to: '/records', label: 'Records', icon: 'i-lucide-table-2', description: 'Every resource, with export and import' },
  { to: '/permissions', label: 'Permissions', icon: 'i-lucide-shield-check', description: 'What this caller can do' },
  { to: '/related', label: 'Related', icon: 'i-lucide-waypoints', description: 'Find posts by their tags and comments' },
  { to: '/tagging', label: 'Tagging', icon: 'i-lucide-tags', description: 'Edit links over a junction table' },
  { to: '/files', label: 'Files', icon: 'i-lucide-image', description: 'Upload, replace and remove covers' },
  { to: '/conflict', label: 'Conflict', icon: 'i-lucide-git-compare-arrows', description: 'Two people edit one post' },
  { to: '/retry', label: 'Retry', icon: 'i-lucide-repeat', description: 'A request that is sent twice takes effect once' },
  { to: '/trash', label: 'Trash', icon: 'i-lucide-trash-2', description: 'Restore what a delete took away' },
  { to: '/activity', label: 'Activity', icon: 'i-lucide-activity', description: 'Who did what, newest first' },
  { to: '/tokens', label: 'Tokens', icon: 'i-lucide-key-round', description: 'Scripts that act as this caller' },
  { to: '/api/_reference', label: 'Reference', icon: 'i-lucide-book-open', description: 'The API as this caller can use it', external: true },
] satisfies NavigationMenuItem[]
