/** The front page of the playground shows lines of its registration. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { REGISTRATION } from '../../playground/app/registration'

it('the front page of the playground shows lines of the file that it names, in their order', () => {
  const file = readFileSync(new URL('../../playground/server/auth/posts.ts', import.meta.url), 'utf8')
  const parts = REGISTRATION.split(/\s*\/\/ …\s*/)
  const places = parts.map(part => file.indexOf(part))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})
