/** Spellings of paths in more apps: with a base URL, with the audit log and the pages of the admin, and on Workers. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { startEdge, type Edge } from './newsroom/edge'
import { startNewsroom, type LocalNewsroom } from './newsroom/server'
import { ofBackOffice, ofEdge, ofPages, ofPlayground } from './spellings/newsroom'
import { describeSpellings } from './spellings/run'
import { ofVisibility } from './spellings/visibility'
import { buildFixture } from './support/build'
import { startServer, type Server } from './support/server'
import { startVisibilityApp, type VisibilityApp } from './support/visibility'

const folder = mkdtempSync(join(tmpdir(), 'spellings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('below a base URL and with another prefix', () => {
  let app: VisibilityApp
  beforeAll(async () => {
    app = await startVisibilityApp({ variant: 'prefixed', base: '/shop/' })
  })
  afterAll(() => app?.stop())

  describeSpellings(ofVisibility(() => app, 70, '/shop', '/data/v1'))
})

describe('in the playground', () => {
  let newsroom: LocalNewsroom
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'newsroom.sqlite'))
  })
  afterAll(() => newsroom?.stop())

  describe('paths of the API', () => describeSpellings(ofPlayground(() => newsroom, 100)))
  describe('pages of the admin', () => describeSpellings(ofPages(() => newsroom, 90)))
})

describe('pages with a middleware of the app', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer(await buildFixture('admin'))
  })
  afterAll(() => server?.stop())

  describeSpellings(ofBackOffice(() => server, 70))
})

describe('on Workers', () => {
  let edge: Edge
  beforeAll(async () => {
    edge = await startEdge(mkdirSync(join(folder, 'edge'), { recursive: true })!)
  })
  afterAll(() => edge?.stop())

  describeSpellings(ofEdge(() => edge, 100))
})
