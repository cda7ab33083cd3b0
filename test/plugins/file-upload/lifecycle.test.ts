/** What becomes of files: removal, the trash, purges, cascades and files that no record names. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fileSystemStorage } from '../../../src/runtime/plugins/index'
import { runPluginTasks } from '../../../src/runtime/server/tasks/plugins'
import { png } from './bytes'
import { ANONYMOUS, EDITOR, READER, form, openWorld, type World, type WorldOptions } from './world'

let world: World
async function open(options?: WorldOptions): Promise<World> {
  return world = await openWorld(options)
}
beforeEach(() => open())
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await world.close()
})

const upload = async (path = '/posts/1/upload/cover', body = form(png(), 'a.png')) => {
  const { status, body: record } = await world.send(EDITOR, 'POST', path, { body })
  expect(status).toBe(200)
  return record
}
const send = (method: string, path: string, caller = EDITOR) => world.send(caller, method, path)

describe('removing', () => {
  it('removes the file from the record and from the storage, and returns the record', async () => {
    await upload()
    const { status, body } = await send('DELETE', '/posts/1/files/cover')
    expect([status, body.id, body.cover, body.updatedBy]).toEqual([200, 1, null, 7])
    expect(world.stored()).toEqual([])
    expect((await send('GET', '/posts/1/files/cover')).status).toBe(404)
    expect((await send('DELETE', '/posts/1/files/cover')).status).toBe(404)
  })

  it('removes one file of a list, or all', async () => {
    for (const name of ['a', 'b', 'c']) await upload('/posts/1/upload/files', form(name, `${name}.txt`))
    const files = JSON.parse(world.row(1).files as string) as { key: string, name: string }[]
    const { body } = await send('DELETE', `/posts/1/files/files/${files[1]!.key}`)
    expect(JSON.parse(body.files).map(({ name }: { name: string }) => name)).toEqual(['a.txt', 'c.txt'])
    expect((await send('DELETE', `/posts/1/files/files/${files[1]!.key}`)).status).toBe(404)
    expect(world.stored()).toHaveLength(2)
    expect(JSON.parse((await send('DELETE', '/posts/1/files/files')).body.files)).toEqual([])
    expect(world.stored()).toEqual([])
  })

  it.each([
    ['without a session', ANONYMOUS, '/posts/1/files/cover', 401],
    ['without the permission', READER, '/posts/1/files/cover', 403],
    ['of a field that the caller cannot write', EDITOR, '/posts/1/files/secret', 403],
    ['in the trash', EDITOR, '/posts/3/files/cover', 404],
  ])('is refused %s', async (_case, caller, path, status) => {
    await upload()
    expect((await send('DELETE', path, caller)).status).toBe(status)
    expect(world.stored()).toHaveLength(1)
  })

  it('answers although the storage is down, and the file stays for the task', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await world.close()
    await open({ storage: { ...fileSystemStorage({ base: world.folder }), delete: async () => {
      throw new Error('down')
    } } })
    await upload()
    expect((await send('DELETE', '/posts/1/files/cover')).status).toBe(200)
    expect(log).toHaveBeenCalledWith(expect.stringContaining('The daily task tries again.'), expect.any(Error))
  })
})

describe('the trash', () => {
  it('keeps files, and a restore brings them back', async () => {
    await upload()
    expect((await send('DELETE', '/posts/1')).status).toBe(200)
    expect((await send('GET', '/posts/1/files/cover')).status).toBe(404)
    expect(world.stored()).toHaveLength(1)
    expect((await send('POST', '/posts/1/restore')).status).toBe(200)
    expect((await send('GET', '/posts/1/files/cover')).status).toBe(200)
  })

  it('loses its files with a purge, those of cascaded records too', async () => {
    await upload()
    await upload('/notes/a/upload/scan')
    await upload('/notes/b/upload/scan')
    expect(world.stored()).toHaveLength(3)
    expect((await send('DELETE', '/posts/1?force=true')).status).toBe(200)
    expect(world.stored().map(path => path.split('/').slice(0, 2))).toEqual([['notes', '62']])
  })

  it('does not exist for some resources, whose files go with a delete', async () => {
    await upload('/notes/b/upload/scan')
    expect((await send('DELETE', '/notes/b')).status).toBe(200)
    expect(world.stored()).toEqual([])
  })
})

describe('the daily task', () => {
  const DAY = 24 * 60 * 60 * 1000
  const run = () => runPluginTasks(new Date(), { payload: { task: 'fileUpload:orphans' } })

  it('removes what no record names, after a day', async () => {
    const { key } = (await upload()).cover
    await upload('/posts/1/upload/files', form('a', 'a.txt'))
    await upload('/notes/b/upload/scan')
    world.client.exec('update posts set cover = null; delete from notes')
    await run()
    expect(world.stored()).toHaveLength(3)
    vi.useFakeTimers({ now: Date.now() + DAY + 1000, toFake: ['Date'] })
    await run()
    expect(world.stored()).toEqual([expect.stringMatching(/^posts\/31\/files\//)])
    expect(world.stored()[0]).not.toContain(key)
  })

  it('keeps the files of rows in the trash and of other tenants', async () => {
    await upload()
    world.client.exec('update posts set organization_id = 2, deleted_at = 1')
    vi.useFakeTimers({ now: Date.now() + 2 * DAY, toFake: ['Date'] })
    await run()
    expect(world.stored()).toHaveLength(1)
  })

  it('keeps what it does not know', async () => {
    const storage = fileSystemStorage({ base: world.folder })
    const others = [
      'a',
      'posts/31/cover',
      'posts/31/other/01936f00-0000-7000-8000-000000000000',
      'users/31/cover/01936f00-0000-7000-8000-000000000000',
      'posts/3g/cover/01936f00-0000-7000-8000-000000000000',
    ]
    for (const path of others.filter(path => path !== 'posts/31/cover')) await storage.put(path, (async function* () {})(), { type: 'x' })
    await storage.put('posts/31/cover/01936f00-0000-7000-8000-000000000000', (async function* () {})(), { type: 'x' })
    await run()
    expect(world.stored()).toEqual(others.filter(path => path !== 'posts/31/cover').sort())
  })

  it('checks any number of files with few statements', async () => {
    const storage = fileSystemStorage({ base: world.folder })
    for (let index = 0; index < 250; index++)
      await storage.put(
        `posts/${Buffer.from(String(index)).toString('hex')}/cover/01936f00-0000-7000-8000-${String(index).padStart(12, '0')}`,
        (async function* () {})(),
        { type: 'x' },
      )
    const statements = vi.spyOn(world.client, 'prepare')
    await run()
    expect(world.stored()).toEqual([])
    expect(statements.mock.calls.length).toBeLessThanOrEqual(6)
  })
})
