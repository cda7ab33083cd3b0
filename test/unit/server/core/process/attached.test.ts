import { expect, it } from 'vitest'
import { createAttached } from '../../../../../src/runtime/server/core/process/request-scoped'

it('belongs to one object only: not to a copy, and not to an object that inherits from it', () => {
  const values = createAttached<number>('values')
  const owner = { id: 1 }
  expect(values.get(owner)).toBeUndefined()
  values.set(owner, 2)
  expect(values.get(owner)).toBe(2)
  for (const other of [{ ...owner }, Object.assign({}, owner), structuredClone(owner), Object.create(owner) as object])
    expect(values.get(other)).toBeUndefined()
  values.set(owner, 3)
  expect(values.get(owner)).toBe(3)
})

it('is independent of other values of the same name', () => {
  const [first, second] = [createAttached<number>('values'), createAttached<number>('values')]
  const owner = {}
  first.set(owner, 1)
  expect(second.get(owner)).toBeUndefined()
})

it('has no value for anything but an object', () => {
  const values = createAttached<number>('values')
  for (const owner of [undefined, null, 1, 'text']) expect(values.get(owner)).toBeUndefined()
})

it('appears in no loop and in no JSON text', () => {
  const owner = { id: 1 }
  createAttached<string>('secret').set(owner, 'value')
  expect([Object.keys(owner), Object.entries(owner), JSON.stringify(owner)]).toEqual([['id'], [['id', 1]], '{"id":1}'])
  for (const key in owner) expect(key).toBe('id')
})
