/** The API of the visibility app in this process. */
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { articlesAuth, closedAuth, tagsAuth } from '../../fixtures/visibility/server/auth'
import { db, dump, put, reset } from '../../fixtures/visibility/server/database/client'
import * as schema from '../../fixtures/visibility/server/database/schema'
import { extendStaff } from '../../fixtures/visibility/server/staff'
import type { MatrixApp } from '../../support/matrix/run'
import type { Rows } from '../../support/matrix/requests'
import { createServer, type Caller, type TestServer } from '../../support/server'

const { articles, tags } = schema

/** As the module of the visibility app registers them. */
const registrations: ResourceRegistration[] = [
  { name: 'articles', schema: articles, authorization: articlesAuth as never, hiddenFields: ['note'], protectedFields: ['cover'] },
  { name: 'closed', schema: articles, authorization: closedAuth as never, protectedFields: ['cover'] },
  { name: 'forgotten', schema: articles, protectedFields: ['cover'] },
  { name: 'tags', schema: tags, authorization: tagsAuth as never },
  { name: 'labels', schema: tags, authorization: tagsAuth as never, hiddenFields: ['id'] },
]

/** Opens the API over the tables of the visibility app, without a built server. @param further plugins besides those of the app */
export async function createVisibilityApp(further: readonly unknown[] = []): Promise<MatrixApp & Pick<TestServer, 'fetch'>> {
  reset()
  const { request, fetch } = await createServer({
    db,
    registrations,
    modules: [schema],
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    plugins: [
      // Loaded with the API: the plugin's utils belong to it.
      async () => (await import('../../fixtures/visibility/server/api-plugins')).default,
      async () => (await import('../../fixtures/visibility/server/files')).default,
      { name: 'staff', extendContext: extendStaff },
      ...further,
    ],
  })
  return {
    fetch,
    request: (path, { method = 'GET', caller, ...options }) => request(method, path, { ...options, caller: caller as Caller }),
    rows: async () => dump() as Rows,
    async putRows(rows) {
      reset()
      for (const [table, list] of Object.entries(rows)) for (const row of list) put(table, row as Record<string, unknown>)
      return dump() as Rows
    },
  }
}
