/** A server whose endpoints name what there is not ends when it starts, and says why. */
import { describe, expect, it } from 'vitest'
import { startArchive } from './app'

describe('a server does not start', () => {
  it.each([
    ['wrong-gate', 'an endpoint names a gate that there is not', /createEndpoint\(\): `articles\.authorization\.custom` has no gate `publish`/],
    ['wrong-resource', 'an endpoint names a resource that there is not', /createEndpoint\(\): there is no resource `magazines`/],
  ])('%s: when %s', async (also, _rule, message) => {
    const started = startArchive({ also })
    await expect(started.then(app => app.stop())).rejects.toThrow(message)
  }, 240_000)
})
