/** A server whose endpoints name what there is not ends when it starts, and says why. */
import { describe, expect, it } from 'vitest'
import { startVisibilityApp } from './support/visibility'

describe('a server does not start', () => {
  it.each([
    ['wrong-gate', 'an endpoint names a gate that there is not', /createEndpoint\(\): `articles\.authorization\.custom` has no gate `publish`/],
    ['wrong-resource', 'an endpoint names a resource that there is not', /createEndpoint\(\): there is no resource `magazines`/],
  ])('%s: when %s', async (variant, _rule, message) => {
    const started = startVisibilityApp({ variant })
    await expect(started.then(app => app.stop())).rejects.toThrow(message)
  }, 240_000)
})
