/** The development server adds the cause of an error to the response, and follows the resource files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDevelopment, type Server } from './support/server'

const resources = mkdtempSync(join(tmpdir(), 'resources-'))
let server: Server
beforeAll(async () => {
  server = await startDevelopment('libsql', { RESOURCES_DIR: resources })
})
afterAll(async () => {
  await server?.stop()
  rmSync(resources, { recursive: true })
})

describe('in development', () => {
  it('returns the cause of a 500, and for a missing table the command that creates it', async () => {
    const { status, body } = await server.request('/api/notes')
    expect({ status, message: body.message }).toEqual({ status: 500, message: 'Something went wrong.' })
    expect(body.data.cause).toMatch(/no such table: notes[\s\S]*Run `npx drizzle-kit push`/)
  })

  it.each([
    ['no such record', '/api/books/1', 404],
    ['an unknown field', '/api/books?sort=nothing', 400],
  ])('returns the code of a refusal, and no stack: %s', async (_, path, expected) => {
    const { status, body } = await server.request(path)
    expect(status).toBe(expected)
    expect(body.data.code).toBeDefined()
    expect(body.data.cause).toBeUndefined()
    expect(body).not.toHaveProperty('stack')
  })
})

describe('a resource file in development', () => {
  const write = (options: string) => writeFileSync(
    join(resources, 'novels.ts'),
    `import { books } from '~~/server/database/schema'\n\nexport default defineResource(books, ${options})\n`,
  )
  const isAnswered = (status: number, body: object) =>
    expect.poll(() => server.request('/api/novels'), { timeout: 30_000, interval: 250 }).toMatchObject({ status, body })

  it('is registered when it is created', async () => {
    write('{ permissions: { read: true } }')
    await isAnswered(200, { data: [] })
  })

  it('changes its rules when it is saved', async () => {
    write('{ permissions: { read: \'librarian\' } }')
    await isAnswered(401, { data: { code: 'UNAUTHENTICATED' } })
  })

  it('stays registered with a mistake, which is reported', async () => {
    write('{ permissions: { read: true }, hidenFields: [\'title\'] }')
    await expect.poll(() => server.printed(), { timeout: 30_000 }).toMatch(/novels\.hidenFields.+is not a key of a resource/)
    await isAnswered(200, { data: [] })
  })
})
