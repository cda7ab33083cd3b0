/** A server fails at startup when an endpoint names a gate or a resource that does not exist. */
import { beforeAll, describe, expect, it } from 'vitest'
import { buildVisibilityApp, startVisibilityApp } from './support/visibility'

beforeAll(async () => {
  await buildVisibilityApp()
})

describe('a server fails at startup', () => {
  it.each([
    [
      'wrong-gate',
      'an endpoint names a gate that does not exist',
      /createEndpoint\(\): `articles\.authorization\.custom` has no gate `publish`/,
    ],
    ['wrong-resource', 'an endpoint names a resource that does not exist', /createEndpoint\(\): there is no resource `magazines`/],
  ])('%s: when %s', async (mistake, _rule, message) => {
    const started = startVisibilityApp({ env: { MISTAKE: mistake } })
    await expect(started.then(app => app.stop())).rejects.toThrow(message)
  })
})
