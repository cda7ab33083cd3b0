/** The words and colors of each status: metadata of the fields, which the admin reads, and the badges of the pages. */
export const POST_STATUS = {
  labels: { published: 'Published', draft: 'Draft', archived: 'Archived' },
  colors: { published: 'success', draft: 'neutral', archived: 'warning' },
} as const

export const COMMENT_STATUS = {
  labels: { approved: 'Approved', pending: 'Pending', rejected: 'Rejected' },
  colors: { approved: 'success', pending: 'warning', rejected: 'error' },
} as const

type Color = 'success' | 'neutral' | 'warning' | 'error'

const LABELS: Readonly<Record<string, string>> = { ...POST_STATUS.labels, ...COMMENT_STATUS.labels }
const COLORS: Readonly<Record<string, Color>> = { ...POST_STATUS.colors, ...COMMENT_STATUS.colors }

export const statusLabel = (status: string): string => LABELS[status] ?? status
export const statusColor = (status: string): Color => COLORS[status] ?? 'neutral'

/** The options of a select. */
export const statusItems = <Status extends string>(statuses: readonly Status[]) => statuses.map(value => ({ value, label: statusLabel(value) }))
