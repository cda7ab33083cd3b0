/** Computed fields in queries and in responses: read-only fields, and lazy ones only where a query names them. */
import { expectTypeOf, test } from 'vitest'
import { useAutoApiAggregate, useAutoApiGet, useAutoApiList, type AutoApiCreateBody, type AutoApiRecord } from '../../support/composables'

interface Shown {
  caption: string | null
  pages: number | null
  ratio: number | null
  bytes: string | null
  price: string | null
  sharp: boolean | null
  takenAt: string | null
  tags: string[] | null
}

test('a record contains those that are not lazy', () => {
  expectTypeOf<Omit<AutoApiRecord<'scans'>, 'id' | 'file'>>().toEqualTypeOf<Shown>()
  expectTypeOf(useAutoApiGet('scans', 1).data.value!.takenAt).toEqualTypeOf<string | null>()
  expectTypeOf(useAutoApiGet('scans', 1, { fields: ['id', 'words'] }).data.value!).toEqualTypeOf<{ id: number, words: string | null }>()
  // @ts-expect-error the field is lazy
  void useAutoApiGet('scans', 1).data.value?.words
})

test('queries accept them with the operators of their types', () => {
  useAutoApiList('scans', {
    filter: { pages: { $gt: 1 }, price: { $lte: '2.5' }, sharp: true, takenAt: { $gte: new Date() }, words: { $like: '%a%' } },
    sort: ['-pages', 'words'],
  })
  useAutoApiAggregate('scans', { aggregate: ['sum(pages)', 'max(takenAt)'], groupBy: ['caption'] })
  // @ts-expect-error not a number
  useAutoApiList('scans', { filter: { pages: 'many' } })
  // @ts-expect-error JSON has no order
  useAutoApiList('scans', { sort: 'tags' })
})

test('bodies contain none', () => {
  expectTypeOf<keyof AutoApiCreateBody<'scans'>>().toEqualTypeOf<never>()
})
