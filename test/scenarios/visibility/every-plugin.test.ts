/** What a caller cannot see changes no response: of routes, exports, files, agents, histories, feeds and stored responses. */
import { expect, it } from 'vitest'
import { expectNoninterference } from '../../../src/runtime/testing'
import { byTier } from '../../support/tiers'
import { openOffice } from './two-worlds/office'

const RUNS = Number(process.env.RUNS ?? byTier({ push: 125, full: 4_000, release: 25_000 }))
const SEED = process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }
const BUDGET = byTier({ push: 8_000, full: 200_000, release: 3_000_000 })

it.each(['anonymous', 'reader', 'author', 'editor', 'token'] as const)('nothing hidden changes a response: %s', async (caller) => {
  const { api } = await openOffice()
  // The log has entries of rows that the caller can see, and of others.
  for (const [name, path, body] of [
    ['author', '/posts/2', { title: 'Draft' }], ['editor', '/posts/1', { title: 'News', margin: 5 }], ['editor', '/posts/3', { title: 'Edgar' }],
    ['stranger', '/posts/4', { title: 'Far' }], ['editor', '/documents/2', { title: 'Wages' }], ['author', '/documents/1', { title: 'Costs' }],
  ] as const) expect((await api.as(name).patch(path, body)).status).toBe(200)
  const { requests, changes, seed } = await expectNoninterference(api, { as: caller, runs: RUNS, budget: BUDGET, ...SEED })
  console.info(`${caller}: ${requests} requests, ${changes} changes, seed ${seed}`)
  expect(requests).toBeGreaterThan(50)
}, 60_000 + BUDGET)
