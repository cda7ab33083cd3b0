/** The dev server says more than the built one: why a request failed, and what to do. The built one says nothing of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildFixture, startDevelopment, startFixture, type Server } from './built'

describe.each([['development', startDevelopment], ['production', startBuilt]] as const)('in %s', (mode, start) => {
  let server: Server
  beforeAll(async () => {
    server = await start('development')
  })
  afterAll(() => server?.stop())

  it(mode === 'development' ? 'a 500 carries its cause, and a missing table names the command that creates it' : 'a 500 says nothing of its cause', async () => {
    const { status, body } = await server.ask('/api/notes')
    expect({ status, message: body.message }).toEqual({ status: 500, message: 'Something went wrong.' })
    if (mode === 'production') expect(JSON.stringify(body)).not.toMatch(/no such table|drizzle-kit/)
    else expect(body.data.cause).toMatch(/no such table: notes[\s\S]*Run `npx drizzle-kit push`/)
  })

  it.each([['no such record', '/api/books/1', 404], ['an unknown field', '/api/books?sort=nothing', 400]])('a refusal carries its code and no stack: %s', async (_, path, expected) => {
    const { status, body } = await server.ask(path)
    expect(status).toBe(expected)
    expect(body.data.code).toBeDefined()
    expect(body.data.cause).toBeUndefined()
    expect(body).not.toHaveProperty('stack')
  })
})

function startBuilt(name: string): Promise<Server> {
  buildFixture(name)
  return startFixture(name)
}
