/** The development server adds the cause of an error to the response. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDevelopment, type Server } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startDevelopment('libsql')
})
afterAll(() => server?.stop())

describe('in development', () => {
  it('returns the cause of a 500, and for a missing table the command that creates it', async () => {
    const { status, body } = await server.request('/api/notes')
    expect({ status, message: body.message }).toEqual({ status: 500, message: 'Something went wrong.' })
    expect(body.data.cause).toMatch(/no such table: notes[\s\S]*Run `npx drizzle-kit push`/)
  })

  it.each([['no such record', '/api/books/1', 404], ['an unknown field', '/api/books?sort=nothing', 400]])('returns the code of a refusal, and no stack: %s', async (_, path, expected) => {
    const { status, body } = await server.request(path)
    expect(status).toBe(expected)
    expect(body.data.code).toBeDefined()
    expect(body.data.cause).toBeUndefined()
    expect(body).not.toHaveProperty('stack')
  })
})
