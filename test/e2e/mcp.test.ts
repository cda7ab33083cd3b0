/** The tools of `mcp` in a built server, used by the official client. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectMcp } from '../support/mcp'
import { startNotebook, type Notebook } from './auth-utils/server'

let notebook: Notebook
beforeAll(async () => {
  notebook = await startNotebook()
})
afterAll(() => notebook?.stop())

async function makeToken(name: string, scopes: readonly string[] | null = null): Promise<string> {
  const { body } = await notebook.request('/api/apiTokens', {
    method: 'POST',
    cookie: await notebook.signIn(name),
    body: { name: 'agent', scopes },
  })
  return body.token
}

const connect = async (name: string, scopes?: readonly string[]) =>
  connectMcp({ url: `${notebook.url}/api/mcp`, token: await makeToken(name, scopes) })

it('gives each token the tools and the rows of its owner', async () => {
  const editor = await connect('ada')
  expect(await editor.tools()).toEqual(['describe', 'list', 'get', 'aggregate', 'create', 'update', 'delete'])
  const reader = await connect('cleo', ['notes:read'])
  expect(await reader.tools()).toEqual(['describe', 'list', 'get', 'aggregate'])
  const texts = async ({ call }: typeof editor) => (await call('list', { resource: 'notes', fields: ['text'], limit: 1 })).result.data
  expect([await texts(editor), await texts(reader)]).toEqual([[{ text: 'first of one' }], [{ text: 'first of two' }]])
  expect((await reader.call('get', { resource: 'notes', id: 1 })).result.error.code).toBe('NOT_FOUND')
  expect((await reader.call('create', { resource: 'notes', values: { text: 'x' } })).result.error.code).toBe('FORBIDDEN')
})

it('deletes a record only after its preview', async () => {
  const { call } = await connect('ada')
  const {
    result: {
      record: { id, organizationId },
    },
  } = await call('create', { resource: 'notes', values: { text: 'by an agent', organizationId: 2 } })
  expect(organizationId).toBe(1)
  const { result: preview } = await call('delete', { resource: 'notes', id })
  expect(preview).toMatchObject({ dryRun: true, permanent: true, affected: { notes: 1 } })
  expect((await call('get', { resource: 'notes', id })).isError).toBe(false)
  expect((await call('delete', { resource: 'notes', id, confirm: preview.confirm })).result).toMatchObject({ success: true })
  expect((await call('get', { resource: 'notes', id })).result.error.code).toBe('NOT_FOUND')
})

it('refuses an invalid token with a 401, so that the client can sign in again', async () => {
  await expect(connectMcp({ url: `${notebook.url}/api/mcp`, token: `aat_${'0'.repeat(49)}` })).rejects.toMatchObject({ code: 401 })
})
