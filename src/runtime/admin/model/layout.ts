/** How a record is laid out: what a person writes, and beside it the facts that are chosen or set. */
import type { AdminField } from '../../shared/types/admin'
import type { JsonSchema } from '../../shared/types/description'
import type { DescribedField } from './schema'
import { widgetOf, type Widget } from './widgets'

export interface RecordLayout {
  readonly content: readonly string[]
  readonly facts: readonly string[]
}

/** What needs the width of a page. The rest is short: a choice, a date, a number, another record. */
const WIDE: ReadonlySet<Widget> = new Set(['text', 'textarea', 'markdown', 'json', 'url', 'email'])

/** Returns the names in two parts, each in the given order. A record without content has its facts as content. */
export function splitFields(
  names: readonly string[], fields: Readonly<Record<string, DescribedField>>,
  optionsOf: (name: string) => AdminField | undefined, schema?: JsonSchema,
): RecordLayout {
  const isContent = (name: string) => {
    const own = optionsOf(name)
    const { role, primaryKey } = fields[name]!
    return role === undefined && !primaryKey && (own?.chunk !== undefined || WIDE.has(widgetOf(name, fields[name]!, own, schema)))
  }
  const content = names.filter(isContent)
  return content.length === 0 ? { content: names, facts: [] } : { content, facts: names.filter(name => !content.includes(name)) }
}
