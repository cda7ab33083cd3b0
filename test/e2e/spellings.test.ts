/** A path of the API is judged and served as one path, however it is spelled: on the visibility app, with each version of Nuxt. */
import { afterAll, beforeAll } from 'vitest'
import { isFull } from '../support/tiers'
import { describeSpellings } from './spellings/run'
import { ofVisibility } from './spellings/visibility'
import { startVisibilityApp, type VisibilityApp } from './support/visibility'

let app: VisibilityApp

beforeAll(async () => {
  app = await startVisibilityApp()
})

afterAll(() => app?.stop())

describeSpellings(ofVisibility(() => app, isFull ? 150 : 20))
