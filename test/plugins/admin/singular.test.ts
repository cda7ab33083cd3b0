/** The word for one record, on buttons such as `New post`. */
import { expect, it } from 'vitest'
import { toSingular } from '../../../src/runtime/plugins/admin/singular'

it.each([
  ['posts', 'post'], ['categories', 'category'], ['addresses', 'address'], ['boxes', 'box'], ['branches', 'branch'], ['houses', 'house'],
  ['statuses', 'status'], ['status', 'status'], ['series', 'series'], ['movies', 'movie'], ['people', 'person'], ['caches', 'cache'],
  ['blogPosts', 'blog post'], ['order_items', 'order item'], ['media', 'media'], ['heroes', 'hero'], ['keys', 'key'],
])('%s → %s', (name, singular) => {
  const label = (name.charAt(0).toUpperCase() + name.slice(1)).replace(/([a-z])([A-Z])/g, '$1 $2').replace('_', ' ').toLowerCase()
  expect(toSingular(name, label.charAt(0).toUpperCase() + label.slice(1))).toBe(singular)
})

it('does not guess the singular of a label that the app has chosen', () => {
  expect(toSingular('posts', 'Beiträge')).toBeUndefined()
})
