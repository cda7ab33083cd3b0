/** The command `openapi`: the document of a role, without a server. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { writeOpenApi } from '../../../src/cli/openapi'
import { findProblems, operationsOf } from '../../support/open-api/document'

const cwd = fileURLToPath(new URL('../../fixtures/module-setup', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
const output = relative(cwd, join(folder, 'api.json'))

afterAll(() => rmSync(folder, { recursive: true }))

async function idsOf(options: object) {
  const written = await writeOpenApi({ cwd, output, ...options })
  const document = JSON.parse(readFileSync(join(folder, 'api.json'), 'utf8'))
  expect(await findProblems(document)).toEqual([])
  const ids = operationsOf(document).map(({ operation }) => operation.operationId as string)
  expect(written).toEqual({ file: output, operations: ids.length })
  return ids
}

describe('openapi', () => {
  it('writes what an anonymous caller can use', async () => {
    const ids = await idsOf({})
    expect(ids).toContain('tags.list')
    expect(ids.filter(id => id.startsWith('notes.'))).toEqual([])
  })

  it('writes what a role can use', async () => {
    expect(await idsOf({ roles: ['editor'] })).toEqual(expect.arrayContaining(['notes.list', 'notes.update']))
    expect(await idsOf({ permissions: ['notes:edit'] })).toContain('notes.update')
    expect(await idsOf({ roles: ['reader'] })).not.toContain('notes.update')
  })

  it('refuses an app without the module', async () => {
    await expect(writeOpenApi({ cwd: join(cwd, 'layer'), output })).rejects.toThrow('The app does not use the module.')
  })
})
