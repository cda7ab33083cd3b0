/** The children in a form: rows that are added, changed, removed and moved, and what a request sends of them. */
import { computed, reactive, shallowReactive, shallowRef, toRaw } from 'vue'
import type { ChildAction, NestedAction } from '../../shared/nested'
import type { DescribedField, DescribedResource, JsonSchema } from '../../shared/types/description'
import type { Row } from '../any-resource'
import type { FormError } from '../error'
import { idOf } from '../keys'
import { findIssues, type SchemaIssue } from './json-schema'
import type { AnyChildren, AnyChildRow } from './types'
import { copy, differing, initialValues, toBody, valuesOf, type Values } from './values'

/** Which children a form edits. */
export interface ChildrenSource {
  readonly relation: string
  readonly target: string
  /** The foreign key, which the server sets. */
  readonly foreignKey: readonly string[]
  /** The field with the order of the rows. */
  readonly position?: string
  readonly described: () => DescribedResource | undefined
  /** What the caller can do with the children. */
  readonly actions: () => readonly NestedAction[]
  readonly toMessage: (issue: SchemaIssue) => string
}

/** The rows of each list of a request, by their keys. */
type Sent = Readonly<Record<ChildAction, readonly Line[]>>

interface Line extends AnyChildRow {
  readonly first: Values
  isRemoved: boolean
  /** The messages of the last submit, and the values that they are about. */
  refused?: { readonly errors: readonly FormError[], readonly values: Values }
}

export interface FormChildren {
  /** What the page uses. */
  readonly list: AnyChildren
  readonly isDirty: () => boolean
  /** Shows the children of a record, without changes. */
  readonly open: (records: readonly Row[]) => void
  readonly reset: () => void
  /** Keeps the changes of the form over new versions of the children. A changed child that does not exist any more becomes a new one. */
  readonly rebase: (records: readonly Row[]) => void
  /** The lists of a request, and the function that puts its errors at the rows. `undefined` without a change. */
  readonly collect: () => Collected
}

export interface Collected {
  readonly body: Values | undefined
  readonly errors: readonly FormError[]
  /** Takes the errors of the children. */
  readonly refuse: (errors: readonly FormError[]) => void
}

export function createChildren({ relation, target, foreignKey, position, described, actions, toMessage }: ChildrenSource): FormChildren {
  const lines = shallowRef<readonly Line[]>([])
  const message = shallowRef<string>()
  let opened: readonly Row[] = []
  let added = 0
  let isMoved = false

  const allFields = () => described()?.fields ?? {}
  const isOfServer = (name: string) => foreignKey.includes(name)
  const without = (values: Values) => Object.fromEntries(Object.entries(values).filter(([name]) => !isOfServer(name)))
  const fields = computed(() => Object.fromEntries(Object.entries(allFields()).filter(([name, { writable }]) =>
    (writable.create || writable.update) && !isOfServer(name) && name !== position)))

  const firstOf = (record: Row) => described() ? without(valuesOf(described()!, record)) : {}
  const toLine = (record: Row): Line => createLine({ key: keyOf(record), id: idOf(target, record), record, first: firstOf(record) })
  /** A record whose key the caller cannot read cannot be named in a request. */
  const keyOf = (record: Row) => idOf(target, record) ?? `?${opened.indexOf(record)}`

  function createLine(
    { key, id, record, first, values = first, isRemoved = false, refused }:
      Pick<Line, 'key' | 'id' | 'record' | 'first' | 'refused'> & { values?: Values, isRemoved?: boolean },
  ): Line {
    const line: Line = shallowReactive({
      key, id, record, first, refused, isRemoved,
      values: reactive(copy(values)),
      isNew: record === undefined,
      get state() {
        return line.isRemoved ? 'removed' : line.isNew ? 'new' : changedIn(line).length > 0 ? 'changed' : 'unchanged'
      },
      get errors() {
        const { errors = [], values = {} } = line.refused ?? {}
        const edited = errors.length > 0 ? differing(values, line.values) : []
        // A message about the whole row disappears with any change.
        return errors.filter(error => isOfField(error) ? !edited.includes(topOf(error)) : edited.length === 0)
      },
      errorOf: (name: string) => line.errors.find(error => error.name === name || error.name.startsWith(`${name}.`))?.message,
      get message() {
        return line.errors.find(error => !isOfField(error))?.message
      },
    })
    return line
  }

  const bodyOf = ({ values, isNew }: Line) => toBody(toRaw(values), allFields(), isNew ? 'create' : 'update')
  const changedIn = (line: Line) => differing(toBody(line.values, allFields(), 'update'), line.first)
  const changesIn = (line: Line): Values => {
    const values = bodyOf(line)
    return Object.fromEntries(changedIn(line).map(name => [name, values[name] ?? null]))
  }

  const sentRows = (): Sent => ({
    create: lines.value.filter(({ isNew, isRemoved }) => isNew && !isRemoved),
    update: lines.value.filter(line => line.state === 'changed' && line.id !== undefined),
    delete: lines.value.filter(({ id, isRemoved }) => id !== undefined && isRemoved),
  })
  const isDirty = () => Object.values(sentRows()).some(rows => rows.length > 0)

  function open(records: readonly Row[]) {
    opened = records
    lines.value = records.map(toLine)
    message.value = undefined
    isMoved = false
  }

  /** A position is a number, or text with one. */
  const positionIn = (values: Values) => Number(values[position!] ?? 0)
  const nextPosition = (positions: readonly number[]) => Math.max(0, ...positions) + 1

  /**
   * Rows keep the position that the server has, as long as the positions increase. The others get positions that no row has, because a
   * unique constraint can refuse a position that another row has until its own update.
   */
  function renumber() {
    if (!position) return
    let next = nextPosition(lines.value.filter(({ isNew }) => !isNew).map(({ first }) => positionIn(first)))
    let last = -Infinity
    for (const line of lines.value.filter(({ isRemoved }) => !isRemoved)) {
      const own = line.isNew ? -Infinity : positionIn(line.first)
      const isKept = last < Infinity && own > last
      last = isKept ? own : Infinity
      if (!isKept) line.values[position] = next++
      else if (Number(line.values[position]) !== own) line.values[position] = line.first[position]
    }
  }

  const isOfField = (error: FormError) => Object.hasOwn(fields.value, topOf(error))
  const find = (key: string) => lines.value.find(line => line.key === key)

  const list: AnyChildren = {
    get rows() { return lines.value },
    get fields(): Readonly<Record<string, DescribedField>> { return fields.value },
    get canCreate() { return actions().includes('create') },
    get canUpdate() { return actions().includes('update') },
    get canDelete() { return actions().includes('delete') },
    get message() { return message.value },
    add(values = {}) {
      const resource = described()
      const defaults = resource ? without(initialValues(resource, values)) : copy(values)
      const taken = position ? lines.value.flatMap(line => [positionIn(line.first), positionIn(line.values)]) : []
      const first = position ? { ...defaults, [position]: nextPosition(taken) } : defaults
      const line = createLine({ key: `new-${++added}`, id: undefined, record: undefined, first })
      lines.value = [...lines.value, line]
      return line
    },
    remove(key) {
      const line = find(key)
      if (!line) return
      // Nothing is lost with a new row without values, so nobody has to restore it.
      if (line.isNew && differing(line.values, line.first).length === 0) lines.value = lines.value.filter(one => one !== line)
      else line.isRemoved = true
    },
    restore(key) {
      const line = find(key)
      if (!line) return
      line.isRemoved = false
      line.refused = undefined
      if (isMoved) renumber()
    },
    move(from, to) {
      const rows = [...lines.value]
      const [line] = rows.splice(from, 1)
      if (!line) return
      rows.splice(to, 0, line)
      lines.value = rows
      isMoved = true
      renumber()
    },
  }

  function check(sent: Sent): FormError[] {
    const ofRow = (values: Values, kind: 'create' | 'update', place: string) => {
      const schema = described()?.validation[kind]
      const issues = schema ? findIssues(withoutKeys(schema, foreignKey), values) : []
      return issues.map(issue => ({ name: [place, ...issue.path].join('.'), message: toMessage(issue) }))
    }
    return [
      ...sent.create.flatMap((line, index) => ofRow(bodyOf(line), 'create', `${relation}.create.${index}`)),
      ...sent.update.flatMap((line, index) => ofRow(changesIn(line), 'update', `${relation}.update.${index}.data`)),
    ]
  }

  function collect(): Collected {
    const sent = sentRows()
    const lists = {
      create: sent.create.map(bodyOf),
      update: sent.update.map(line => ({ id: line.id, data: changesIn(line) })),
      delete: sent.delete.map(({ id }) => id),
    }
    const body = Object.fromEntries(Object.entries(lists).filter(([, entries]) => entries.length > 0))
    const keys = Object.fromEntries(Object.entries(sent).map(([action, rows]) => [action, rows.map(({ key }) => key)]))
    return {
      body: Object.keys(body).length > 0 ? body : undefined,
      errors: check(sent),
      refuse(errors) {
        message.value = undefined
        const byKey = new Map<string, FormError[]>()
        for (const { name, message: text } of errors) {
          const [first, action = '', index = '', ...rest] = name.split('.')
          if (first !== relation) continue
          const key = keys[action]?.[Number(index)]
          // The fields of an update are in `data`.
          const field = action === 'update' && rest[0] === 'data' ? rest.slice(1) : rest
          if (key === undefined || index === '') message.value = text
          else byKey.set(key, [...byKey.get(key) ?? [], { name: field.join('.'), message: text }])
        }
        for (const line of lines.value) {
          const own = byKey.get(line.key)
          line.refused = own && { errors: own, values: copy(toRaw(line.values)) }
        }
      },
    }
  }

  return {
    list, isDirty, open, collect,
    reset: () => open(opened),
    rebase(records) {
      opened = records
      const current = new Map(records.map(record => [keyOf(record), record]))
      const kept = lines.value.flatMap((line): Line[] => {
        const record = current.get(line.key)
        current.delete(line.key)
        const { key, values, isRemoved, refused } = line
        if (record) {
          const first = firstOf(record)
          return [createLine({ key, id: line.id, record, first, values: { ...first, ...changesIn(line) }, isRemoved, refused })]
        }
        if (line.isNew) return [line]
        return line.state === 'changed' ? [createLine({ key, id: undefined, record: undefined, first: {}, values, refused })] : []
      })
      lines.value = [...kept, ...[...current.values()].map(toLine)]
    },
  }
}

const topOf = ({ name }: FormError) => name.split('.', 1)[0]!

/** The server sets the foreign key, so a body must not have it. */
function withoutKeys({ properties = {}, required = [], ...schema }: JsonSchema, names: readonly string[]): JsonSchema {
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
    required: required.filter(name => !names.includes(name)),
  }
}
