/** The visibility app on a built Nuxt server: a slice of the visibility matrix, and the app's own routes beside the API's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeCells, SMOKE_CELLS } from '../support/matrix/run'
import { CALLERS, REASONS } from '../support/matrix/reasons'
import { PLUGIN_REQUESTS } from '../support/matrix/plugin-routes'
import { REQUESTS } from '../support/matrix/requests'
import { describeErrors } from './errors'
import { describeOwnRoutes } from './own-routes'
import { startVisibilityApp, type VisibilityApp } from './support/visibility'

let app: VisibilityApp

beforeAll(async () => {
  app = await startVisibilityApp()
})

afterAll(() => app?.stop())

describe('the slice of the matrix', () => {
  it('has each request of each caller, and each reason for each caller', () => {
    const distinct = (parts: string[]) => new Set(parts).size
    expect(distinct(SMOKE_CELLS.map(({ caller, name }) => `${caller} ${name}`))).toBe(
      Object.keys(CALLERS).length * (Object.keys(REQUESTS).length + PLUGIN_REQUESTS.size),
    )
    expect(distinct(SMOKE_CELLS.map(({ caller, reason }) => `${caller} ${reason}`))).toBe(
      Object.keys(CALLERS).length * Object.keys(REASONS).length,
    )
  })
})

describeCells(() => app, SMOKE_CELLS)

describe('beside the app', () => describeOwnRoutes(() => app, '/api'))

describeErrors(() => app, '/api')
