/** The pages of the navigation. Those of the workshop show one feature each. */
import type { NavigationMenuItem } from '@nuxt/ui'

export const WORKSHOP = [
  { to: '/conflict', label: 'Conflicts', description: 'Two people edit one post' },
  { to: '/retry', label: 'Retries', description: 'A request that is sent twice takes effect once' },
  { to: '/related', label: 'Related records', description: 'Find posts by their tags and comments' },
  { to: '/discussion', label: 'A post and its comments', description: 'Edit a record with its children, and save both in one request' },
  { to: '/tagging', label: 'Tags of a post', description: 'Edit links over a junction table' },
]

export const PAGES = [
  { to: '/', label: 'Site', exact: true },
  { to: '/desk', label: 'Desk' },
  { to: '/trash', label: 'Trash' },
  { to: '/files', label: 'Files' },
  { to: '/records', label: 'Records' },
  { to: '/explore', label: 'Explorer' },
  { to: '/activity', label: 'Activity' },
  { to: '/permissions', label: 'Permissions' },
  { to: '/tokens', label: 'Tokens' },
  { to: '/admin', label: 'Admin', forStaff: true },
  { label: 'Workshop', children: WORKSHOP },
] satisfies NavigationMenuItem[]
