/** The whole visibility matrix, over the routes and the tables of the visibility app, without a built server. */
import { beforeAll } from 'vitest'
import { ALL_CELLS, describeCells, describeMatrix, type MatrixApp } from '../../support/matrix/run'
import { createVisibilityApp } from './app'

let app: MatrixApp
beforeAll(async () => {
  app = await createVisibilityApp()
})

describeMatrix()

describeCells(() => app, ALL_CELLS)
