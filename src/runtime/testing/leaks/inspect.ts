/** Inspects responses for what a caller must not see: rows, fields and values. */
import type { TestResponse } from '../api/client'
import { toParts, type RowId } from '../access/probes'
import type { Found, FoundResource } from '../access/discover'

export interface Hidden {
  /** The ids of rows by resource. */
  readonly rows: Readonly<Record<string, readonly RowId[]>>
  /** The names of fields by resource. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  readonly secrets: readonly (string | number)[]
}

export interface Inspector {
  /** Searches the whole response for secrets. */
  readonly readText: (request: string, response: TestResponse) => void
  /** Searches records of a resource, with the records that they include, for hidden rows and fields. */
  readonly readRecords: (request: string, resource: string, records: unknown) => void
  /** Adds a leak of another kind. */
  readonly report: (request: string, leak: string) => void
  readonly leaks: ReadonlySet<string>
}

type Record_ = Readonly<Record<string, unknown>>

export function createInspector({ resources }: Found, { rows, fields, secrets }: Hidden): Inspector {
  const leaks = new Set<string>()
  const report = (request: string, leak: string) => void leaks.add(`${request}: ${leak}`)
  const patterns = secrets.map(secret => [secret, toPattern(secret)] as const)

  function readRecord(request: string, resource: FoundResource, record: Record_): void {
    const { name, primaryKey, relations } = resource
    for (const id of rows[name] ?? [])
      if (isRow(record, primaryKey, id)) report(request, `shows the row ${toParts(id).join(', ')} of ${name}`)
    for (const field of fields[name] ?? []) if (Object.hasOwn(record, field)) report(request, `shows the field ${name}.${field}`)
    for (const relation of relations) readRecords(request, relation.target, record[relation.name])
  }

  function readRecords(request: string, name: string, records: unknown): void {
    const resource = resources.get(name)
    if (!resource) return
    for (const record of [records].flat())
      if (typeof record === 'object' && record !== null) readRecord(request, resource, record as Record_)
  }

  return {
    leaks,
    report,
    readRecords,
    readText(request, { text, headers }) {
      const all = `${text}\n${[...headers].map(([name, value]) => `${name}: ${value}`).join('\n')}`
      for (const [secret, pattern] of patterns) if (pattern.test(all)) report(request, `contains ${JSON.stringify(secret)}`)
    },
  }
}

function isRow(record: Record_, primaryKey: readonly string[], id: RowId): boolean {
  const parts = toParts(id)
  return primaryKey.every((name, index) => Object.hasOwn(record, name) && String(record[name]) === String(parts[index]))
}

/** A number must not be a part of a longer one. In JSON, text has escapes. */
function toPattern(secret: string | number): RegExp {
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  if (typeof secret === 'number') return new RegExp(`(?<![\\d.])${escaped(String(secret))}(?![\\d])`)
  return new RegExp([secret, JSON.stringify(secret).slice(1, -1)].map(escaped).join('|'))
}
