/** What a query with an inferred type refuses, in both modes: with the extended operators, and without. */
import { describe, expectTypeOf, test } from 'vitest'
import type { Exact } from '../../../src/runtime/shared/types/exact'
import type { Filter } from '../../../src/runtime/shared/types/query'

/** Infers the type of a filter, as the composables infer the type of a query. Beside a correct name, only `Exact` finds a wrong one. */
declare function extended<const Q extends { readonly filter: Filter<'articles', true> }>(query: Q & Exact<'articles', Q, 'filter', true>): void
declare function basic<const Q extends { readonly filter: Filter<'articles', false> }>(query: Q & Exact<'articles', Q, 'filter', false>): void

describe('with the extended operators', () => {
  test('combinations stand at every level', () => {
    extended({ filter: { $and: [{ title: 'x' }, { $or: [{ views: 1 }, { $not: { featured: true } }] }], views: { $between: [1, 5] } } })
    extended({ filter: { title: { $not: { $like: 'a%' } }, price: { $or: [{ $gt: '1' }, { $null: true }] } } })
    extended({ filter: { writer: { $or: [{ name: 'x' }, { $not: { articles: { $and: [{ title: 'x' }] } } }] } } })
    extended({ filter: { labels: { $count: { $gte: 1 } }, ratings: { $count: 2 }, writer: { articles: { $count: { $gt: 2 } } } } })
    extended({ filter: { labels: null, writer: { $null: false, name: 'x' } } })
  })

  test('an unknown field beside a known one is refused at every level', () => {
    // @ts-expect-error -- beside a combination
    extended({ filter: { $not: { views: 1 }, titel: 'x' } })
    // @ts-expect-error -- in a branch
    extended({ filter: { $and: [{ title: 'x' }, { views: 1, titel: 'x' }] } })
    // @ts-expect-error -- in `$not`
    extended({ filter: { $not: { title: 'x', titel: 'x' } } })
    // @ts-expect-error -- in a branch of a branch
    extended({ filter: { $and: [{ title: 'x', $or: [{ views: 1, titel: 'x' }] }] } })
    // @ts-expect-error -- of a related record
    extended({ filter: { writer: { name: 'x', title: 'x' } } })
    // @ts-expect-error -- in a combination of a related record
    extended({ filter: { writer: { $not: { name: 'x', title: 'x' } } } })
    // @ts-expect-error -- of a record behind a combination
    extended({ filter: { $or: [{ writer: { articles: { title: 'x', titel: 'x' } } }] } })
    // @ts-expect-error -- an unknown combination
    extended({ filter: { title: 'x', $nor: [{ title: 'x' }] } })
  })

  test('an unknown operator beside a known one is refused', () => {
    // @ts-expect-error -- of a field
    extended({ filter: { title: { $like: 'x', $regex: 'x' } } })
    // @ts-expect-error -- in a combination of a field
    extended({ filter: { title: { $not: { $like: 'x', $regex: 'x' } } } })
    // @ts-expect-error -- in a list of combinations of a field
    extended({ filter: { title: { $or: [{ $like: 'x' }, { $and: [{ $like: 'x', $regex: 'x' }] }] } } })
    // @ts-expect-error -- text operators are for text
    extended({ filter: { views: { $gt: 1, $contains: '1' } } })
    // @ts-expect-error -- inside of a combination too
    extended({ filter: { views: { $not: { $gt: 1, $contains: '1' } } } })
  })

  test('`$count` stands alone, with comparisons, in a relation to several records', () => {
    // @ts-expect-error -- beside a condition
    extended({ filter: { labels: { $count: 1, name: 'x' } } })
    // @ts-expect-error -- an operator that is no comparison, beside one
    extended({ filter: { labels: { $count: { $gte: 1, $in: [1] } } } })
    // @ts-expect-error -- a relation to one record
    extended({ filter: { title: 'x', writer: { $count: 1 } } })
    // @ts-expect-error -- in a combination of the relation
    extended({ filter: { labels: { $or: [{ name: 'x' }, { $count: 1 }] } } })
  })

  test('the error contains the unknown name, in the filter of an include too', () => {
    type Unknown<F> = Exact<'articles', { readonly filter: F }, 'filter', true>
    expectTypeOf<Unknown<{ $and: [{ $not: { titel: 'x', views: 1 } }] }>>().toEqualTypeOf<{ readonly 'unknown name': 'titel' }>()
    expectTypeOf<Unknown<{ title: { $not: { $regex: 'x', $like: 'x' } } }>>().toEqualTypeOf<{ readonly 'unknown name': '$regex' }>()
    expectTypeOf<Unknown<{ labels: { $count: { $gte: 1, $in: [1] } } }>>().toEqualTypeOf<{ readonly 'unknown name': '$in' }>()
    type Included<F> = Exact<'articles', { readonly include: { readonly labels: { readonly filter: F } } }, 'include', true>
    expectTypeOf<Included<{ $not: { name: 'x', nam: 'x' } }>>().toEqualTypeOf<{ readonly 'unknown name': 'nam' }>()
    expectTypeOf<Included<{ $not: { name: 'x' } }>>().toEqualTypeOf<unknown>()
  })
})

describe('without them', () => {
  test('an unknown name beside a known one is refused', () => {
    basic({ filter: { $or: [{ title: 'x' }, { writer: { name: 'x' } }], views: { $gt: 1 } } })
    // @ts-expect-error -- in a branch
    basic({ filter: { $or: [{ title: 'x', titel: 'x' }] } })
    // @ts-expect-error -- a combination beside a condition
    basic({ filter: { title: 'x', $not: { views: 1 } } })
    // @ts-expect-error -- a combination in a branch
    basic({ filter: { $or: [{ title: 'x', $or: [{ views: 1 }] }] } })
    // @ts-expect-error -- a combination of a field
    basic({ filter: { title: { $like: 'x', $not: { $like: 'y' } } } })
    // @ts-expect-error -- an extended operator
    basic({ filter: { views: { $gt: 1, $between: [1, 2] } } })
    // @ts-expect-error -- the number of related records
    basic({ filter: { title: 'x', labels: { $count: 1 } } })
  })
})
