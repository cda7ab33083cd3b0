/** What plugins need of HTTP. */
import { expect, it } from 'vitest'
import { basePathOf } from '../../../../src/runtime/server/kit/http'

it.each([
  ['/api/_openapi.json', ''],
  ['/shop/api/_openapi.json?x=/y', '/shop'],
  ['/sh%6fp/%61pi/_openapi%2Ejson/', '/shop'],
])('finds the base URL of %s, whatever is encoded', (sent, base) => {
  expect(basePathOf({ path: '/api/_openapi.json', node: { req: { originalUrl: sent, headers: {} } } }, '/api/_openapi.json')).toBe(base)
})
