/** A built server reads the secret that encrypts cursors from the environment at its start. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildVisibilityApp, startVisibilityApp, type VisibilityApp } from './support/visibility'

let app: VisibilityApp | undefined

beforeAll(async () => {
  await buildVisibilityApp()
})
afterEach(() => app?.stop())

const start = async (env: Record<string, string> = {}) => app = await startVisibilityApp({ env })
const list = async (query: string) => (await app!.request(`/api/labels?limit=1&${query}`)).body

describe('cursors over a hidden key', () => {
  it('are encrypted with NUXT_AUTO_API_SECRET, and accepted by every server with the same secret', async () => {
    await start({ NUXT_AUTO_API_SECRET: 'a secret of the test' })
    const first = await list('cursor=')
    expect(first.data).toEqual([{ name: 'one' }])
    expect(Buffer.from(first.meta.nextCursor, 'base64url').toString('latin1')).not.toContain('labels')
    await app!.stop()
    await start({ NUXT_AUTO_API_SECRET: 'a secret of the test' })
    expect((await list(`cursor=${first.meta.nextCursor}`)).data).toEqual([{ name: 'two' }])
    await app!.stop()
    await start({ NUXT_AUTO_API_SECRET: 'another secret' })
    expect((await list(`cursor=${first.meta.nextCursor}`)).data.code).toBe('INVALID_CURSOR')
  })

  it('are accepted with NUXT_AUTO_API_PREVIOUS_SECRET after the secret has changed, and made with the new one', async () => {
    await start({ NUXT_AUTO_API_SECRET: 'the first secret of the test' })
    const old = (await list('cursor=')).meta.nextCursor
    await app!.stop()
    await start({ NUXT_AUTO_API_SECRET: 'the second secret of the test', NUXT_AUTO_API_PREVIOUS_SECRET: 'the first secret of the test' })
    const next = await list(`cursor=${old}`)
    expect(next.data).toEqual([{ name: 'two' }])
    const made = (await list('cursor=')).meta.nextCursor
    await app!.stop()
    await start({ NUXT_AUTO_API_SECRET: 'the second secret of the test' })
    expect((await list(`cursor=${old}`)).data.code).toBe('INVALID_CURSOR')
    expect((await list(`cursor=${made}`)).data).toEqual([{ name: 'two' }])
  })

  it('are refused in production without a secret, while pages work', async () => {
    await start()
    expect((await list('cursor=')).data.code).toBe('INVALID_QUERY')
    expect((await list('page=2')).data).toEqual([{ name: 'two' }])
  })
})
