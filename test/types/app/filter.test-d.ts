/** The types of filters in both modes: with the extended operators, and without. */
import { describe, test } from 'vitest'
import type { Filter } from '../../../src/runtime/shared/types/query'

type Extended = Filter<'articles', true>
type Basic = Filter<'articles', false>

const accepts = <T>(...filters: readonly T[]) => void filters

describe('with the extended operators', () => {
  test('combinations stand at every level', () => {
    accepts<Extended>(
      { $and: [{ title: 'x' }, { $or: [{ views: 1 }, { $not: { featured: true } }] }] },
      { $not: { $not: { $and: [{ title: null }] } }, title: 'x' },
      { title: { $not: { $like: 'a%' } } },
      { title: { $or: [{ $like: 'a%' }, { $and: [{ $startsWith: 'b' }, { $not: { $null: true } }] }] } },
      { layout: { $not: { $null: true } } },
      { writer: { $or: [{ name: 'x' }, { $not: { articles: { $and: [{ title: 'x' }] } } }] } },
      { labels: { $not: { colour: 'red' } } },
    )
  })

  test('operators fit the kind of the column', () => {
    accepts<Extended>(
      { title: { $notLike: 'a%', $startsWith: 'a', $endsWith: 'b', $contains: 'c', $eqi: 'd', $between: ['a', 'b'] } },
      { views: { $between: [1, 5], $gt: 2 }, price: { $between: ['1.5', '2'] } },
      { publishedAt: { $between: ['2025-01-01', '2026-01-01'] } },
    )
    // @ts-expect-error -- text operators are for text
    accepts<Extended>({ views: { $contains: '1' } })
    // @ts-expect-error -- a decimal is no text
    accepts<Extended>({ price: { $startsWith: '1' } })
    // @ts-expect-error -- booleans have no order
    accepts<Extended>({ featured: { $between: [false, true] } })
    // @ts-expect-error -- JSON is not compared
    accepts<Extended>({ layout: { $between: [{ columns: 1 }, { columns: 2 }] } })
    // @ts-expect-error -- a range has two values
    accepts<Extended>({ views: { $between: [1] } })
    // @ts-expect-error -- of the column's type
    accepts<Extended>({ views: { $between: ['1', '2'] } })
    // @ts-expect-error -- inside of a combination too
    accepts<Extended>({ views: { $not: { $contains: '1' } } })
  })

  test('unknown operators and names are refused at every level', () => {
    // @ts-expect-error -- no such operator
    accepts<Extended>({ title: { $regex: 'x' } })
    // @ts-expect-error -- in a combination of a field
    accepts<Extended>({ title: { $and: [{ $regex: 'x' }] } })
    // @ts-expect-error -- an unknown field
    accepts<Extended>({ $not: { titel: 'x' } })
    // @ts-expect-error -- in branches of a list
    accepts<Extended>({ $and: [{ $or: [{ titel: 'x' }] }] })
    // @ts-expect-error -- of a related record
    accepts<Extended>({ writer: { $not: { title: 'x' } } })
    // @ts-expect-error -- a hidden field
    accepts<Extended>({ writer: { $or: [{ secret: 'x' }] } })
    // @ts-expect-error -- an unknown combination
    accepts<Extended>({ $nor: [{ title: 'x' }] })
    // @ts-expect-error -- `$not` takes one object
    accepts<Extended>({ $not: [{ title: 'x' }] })
    // @ts-expect-error -- `$and` takes a list
    accepts<Extended>({ $and: { title: 'x' } })
  })

  test('numbers of related records are compared', () => {
    accepts<Extended>(
      { labels: { $count: 3 } },
      { ratings: { $count: { $gte: 1, $lt: 5 } }, title: 'x' },
      { $not: { labels: { $count: { $ne: 0 } } } },
      { writer: { articles: { $count: { $gt: 2 } } } },
    )
    // @ts-expect-error -- a relation to one record
    accepts<Extended>({ writer: { $count: 1 } })
    // @ts-expect-error -- a field has no number
    accepts<Extended>({ title: { $count: 1 } })
    // @ts-expect-error -- an operator that `having` does not have
    accepts<Extended>({ labels: { $count: { $in: [1] } } })
    // @ts-expect-error -- it takes a number
    accepts<Extended>({ labels: { $count: '3' } })
    // @ts-expect-error -- a number in a comparison
    accepts<Extended>({ labels: { $count: { $gte: '3' } } })
    // @ts-expect-error -- null is no number
    accepts<Extended>({ labels: { $count: null } })
    // @ts-expect-error -- beside other conditions
    accepts<Extended>({ labels: { $count: 1, name: 'x' } })
    // @ts-expect-error -- outside of a relation
    accepts<Extended>({ $count: 1 })
  })
})

describe('without them', () => {
  test('there is one `$or`, at the top', () => {
    accepts<Basic>({ $or: [{ title: 'x' }, { writer: { name: 'x' } }], views: { $gt: 1 } }, { labels: null })
    // @ts-expect-error -- a combination
    accepts<Basic>({ $and: [{ title: 'x' }] })
    // @ts-expect-error -- a combination
    accepts<Basic>({ $not: { title: 'x' } })
    // @ts-expect-error -- a nested combination
    accepts<Basic>({ $or: [{ $or: [{ title: 'x' }] }] })
    // @ts-expect-error -- a combination of a field
    accepts<Basic>({ title: { $not: { $like: 'x' } } })
    // @ts-expect-error -- a combination of a field
    accepts<Basic>({ title: { $or: [{ $like: 'x' }] } })
    // @ts-expect-error -- inside of a relation
    accepts<Basic>({ writer: { $or: [{ name: 'x' }] } })
  })

  test('there are no extended operators', () => {
    // @ts-expect-error -- an extended operator: $between
    accepts<Basic>({ views: { $between: [1, 2] } })
    // @ts-expect-error -- not in this mode: $notLike
    accepts<Basic>({ title: { $notLike: 'x' } })
    // @ts-expect-error -- not in this mode: $startsWith
    accepts<Basic>({ title: { $startsWith: 'x' } })
    // @ts-expect-error -- not in this mode: $endsWith
    accepts<Basic>({ title: { $endsWith: 'x' } })
    // @ts-expect-error -- not in this mode: $contains
    accepts<Basic>({ title: { $contains: 'x' } })
    // @ts-expect-error -- not in this mode: $eqi
    accepts<Basic>({ title: { $eqi: 'x' } })
    // @ts-expect-error -- not in this mode: $count
    accepts<Basic>({ labels: { $count: 1 } })
    // @ts-expect-error -- not in this mode: $count
    accepts<Basic>({ labels: { $count: { $gte: 1 } } })
  })
})
