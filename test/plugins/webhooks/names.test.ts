/** The names of webhooks in the admin. */
import { expect, it } from 'vitest'
import { distinct, namesOf } from '../../../src/runtime/plugins/webhooks/admin/names'

it('no two webhooks have the same name, and a new one renames none', () => {
  const hook = (id: string, url: string, description = '') => ({ id, url, description })
  const older = [hook('d', 'https://a'), hook('c', 'https://a', 'Shop'), hook('b', 'https://b'), hook('a', 'https://a')]
  expect(Object.fromEntries(namesOf(older))).toEqual({ a: 'https://a', b: 'https://b', c: 'Shop, https://a', d: 'https://a (2)' })
  const names = namesOf([hook('f', 'https://a'), hook('e', 'https://a', 'Shop'), ...older])
  expect([names.get('a'), names.get('d'), names.get('f'), names.get('e')]).toEqual(['https://a', 'https://a (2)', 'https://a (3)', 'Shop, https://a (2)'])
})

it('the buttons of several deliveries of one event have names of their own', () => {
  expect(distinct(['a', 'b', 'a', 'a (2)', 'a'])).toEqual(['a', 'b', 'a (2)', 'a (2) (2)', 'a (3)'])
})
