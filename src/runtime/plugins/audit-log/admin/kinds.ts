/** How the views show the kinds of changes, and which fields a change has set. */
import type { AdminColor } from '../../../shared/types/admin'
import { valueLabel } from '../../../admin/model/values'
import type { Translate } from '../../../admin/model/messages'
import type { DescribedResource } from '../../../shared/types/description'
import type { AuditEntry } from '../shared/types'
import type { MESSAGES } from './messages'

export const KINDS = ['create', 'update', 'delete', 'restore', 'purge', 'link', 'unlink'] as const

type Kind = typeof KINDS[number]
interface Look { readonly color: AdminColor, readonly variant: 'subtle' | 'solid' }

const LOOKS: Readonly<Record<Kind, Look>> = {
  create: { color: 'success', variant: 'subtle' },
  update: { color: 'info', variant: 'subtle' },
  delete: { color: 'error', variant: 'subtle' },
  restore: { color: 'success', variant: 'subtle' },
  purge: { color: 'error', variant: 'solid' },
  link: { color: 'neutral', variant: 'subtle' },
  unlink: { color: 'neutral', variant: 'subtle' },
}

const isKnown = (kind: string): kind is Kind => Object.hasOwn(LOOKS, kind)

/** The badge of a kind. Verbs of the app are neutral. */
export const lookOf = (kind: string): Look => isKnown(kind) ? LOOKS[kind] : LOOKS.link

/** `Created`. A verb of the app is shown as words. */
export const kindLabel = (kind: string, t: Translate<keyof typeof MESSAGES>): string =>
  isKnown(kind) ? t(`audit.kind.${kind}`) : valueLabel(kind, { metadata: {} })

/** The kinds that change some fields. Others concern the whole record. */
const OF_FIELDS: ReadonlySet<string> = new Set<Kind>(['update', 'link', 'unlink'])

/**
 * Returns the names of the changed fields as text: `Status, Title +2`. Empty for a change of the whole record. A field without a label
 * is left out.
 */
export function changedFields(
  { kind, columns }: Pick<AuditEntry, 'kind' | 'columns'>, labelOf: (name: string) => string | undefined, most = 2,
): string {
  if (!columns || !OF_FIELDS.has(kind)) return ''
  const labels = columns.flatMap(name => labelOf(name) ?? [])
  const more = labels.length - most
  return labels.slice(0, most).join(', ') + (more > 0 ? ` +${more}` : '')
}

/** Whether every update sets the field: the time of the update, or its user. */
export const isUpdateField = (resource: Pick<DescribedResource, 'fields'> | undefined, name: string): boolean =>
  resource !== undefined && Object.hasOwn(resource.fields, name) && /^updated(?:At|By)$/.test(resource.fields[name]!.role ?? '')

/** Returns the title that a change itself contains, such as that of a record that is deleted for good. */
export function ownTitle({ before, after }: Pick<AuditEntry, 'before' | 'after'>, field: string | undefined): string | undefined {
  const title = field === undefined ? undefined : after?.[field] ?? before?.[field]
  return typeof title === 'string' && title.trim() !== '' ? title.trim() : undefined
}
