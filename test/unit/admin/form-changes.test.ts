import { describe, expect, it } from 'vitest'
import { computed, reactive } from 'vue'
import { countChanges, earlierValues, keepChanges } from '../../../src/runtime/admin/model/form-changes'
import type { AnyChildRow, AnyForm } from '../../../src/runtime/app/form/types'

type Form = Pick<AnyForm, 'state' | 'changes' | 'children' | 'record'>
type Line = Pick<AnyChildRow, 'key' | 'state' | 'isNew' | 'values'>

/** A form whose changes are the given ones. */
function create(record: Readonly<Record<string, unknown>> | undefined, changed: Readonly<Record<string, unknown>>, rows: Line[] = []) {
  const state = reactive<Record<string, unknown>>({ ...record, ...changed })
  const calls: unknown[] = []
  const list = {
    rows, add: (values: unknown) => calls.push(['add', values]), remove: (key: string) => calls.push(['remove', key]),
  }
  const form = {
    state, record: computed(() => record), changes: computed(() => changed), children: rows.length > 0 ? { lines: list } : {},
  } as unknown as Form
  return { form, state, calls }
}

describe('the changes of a form', () => {
  it('are counted by fields and rows', () => {
    const rows: Line[] = [
      { key: '1', state: 'unchanged', isNew: false, values: {} },
      { key: '2', state: 'removed', isNew: false, values: {} },
      { key: 'new-1', state: 'new', isNew: true, values: {} },
    ]
    expect(countChanges(create({ id: 1 }, { title: 'B', body: 'C' }, rows).form)).toBe(4)
    expect(countChanges(create({ id: 1 }, {}).form)).toBe(0)
  })

  it('come back after they were discarded', () => {
    const rows: Line[] = [
      { key: '1', state: 'changed', isNew: false, values: { body: 'Changed' } },
      { key: '2', state: 'removed', isNew: false, values: { body: 'Second' } },
      { key: 'new-1', state: 'new', isNew: true, values: { body: 'Third' } },
    ]
    const { form, state, calls } = create({ title: 'A' }, { title: 'B' }, rows)
    const restore = keepChanges(form)
    state.title = 'A'
    rows.splice(0, 3, { ...rows[0]!, values: { body: 'First' } }, { ...rows[1]!, state: 'unchanged' })
    restore()
    expect([state.title, rows[0]!.values.body, calls]).toEqual(['B', 'Changed', [['remove', '2'], ['add', { body: 'Third' }]]])
  })

  it('can be undone after a save, if the form knows every value before', () => {
    expect(earlierValues(create({ id: 1, title: 'A', note: null }, { title: 'B', note: 'C' }).form)).toEqual({ title: 'A', note: null })
    expect(earlierValues(create({ id: 1 }, { secret: 'B' }).form)).toBeUndefined()
    expect(earlierValues(create(undefined, { title: 'B' }).form)).toBeUndefined()
    const row: Line = { key: 'new-1', state: 'new', isNew: true, values: {} }
    expect(earlierValues(create({ title: 'A' }, { title: 'B' }, [row]).form)).toBeUndefined()
  })
})
