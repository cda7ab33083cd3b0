/** A server fails at startup when an endpoint names a gate or a resource that does not exist. */
import { describe, expect, it } from 'vitest'
import { startVisibilityApp } from './support/visibility'

describe('a server fails at startup', () => {
  it.each([
    ['wrong-gate', 'an endpoint names a gate that does not exist', /createEndpoint\(\): `articles\.authorization\.custom` has no gate `publish`/],
    ['wrong-resource', 'an endpoint names a resource that does not exist', /createEndpoint\(\): there is no resource `magazines`/],
  ])('%s: when %s', async (variant, _rule, message) => {
    const started = startVisibilityApp({ variant })
    await expect(started.then(app => app.stop())).rejects.toThrow(message)
  }, 240_000)
})
