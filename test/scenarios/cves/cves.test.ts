/** The published vulnerabilities of comparable systems: each is tried here, refused or without effect, and discloses nothing. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Attempt } from './case'
import { CAUSES, outcome } from './case'
import { CASES } from './cases'
import { openWorld, SECRETS, type World } from './world'

const own = Object.getOwnPropertyNames(Object.prototype).sort()

async function check(world: World, attempt: Attempt): Promise<void> {
  const { is, pick, equals, as = 'ada', method = 'GET', path } = attempt
  const answer = await world.send(attempt)
  const title = `${method} ${path}: ${answer.text.slice(0, 300)}`
  expect(outcome(answer), title).toBe(is)
  if (pick) expect(pick(answer), title).toEqual(equals)
  if (as === 'admin' || as === 'eve') return
  const headers = [...answer.headers].join()
  expect(SECRETS.filter(secret => answer.text.includes(secret) || headers.includes(secret)), title).toEqual([])
}

describe.each(CAUSES)('%s', (cause) => {
  let world: World | undefined
  const log = { error: vi.fn() }
  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(log.error))
  afterEach(async () => {
    await world?.close()
    world = undefined
    vi.restoreAllMocks()
    log.error.mockReset()
  })

  const cases = CASES.filter(entry => entry.cause === cause)

  it.each(cases.filter(({ tested }) => !tested))('$system, $id: $what', async ({ options, requests = [], control, play, equals, writes }) => {
    world = await openWorld(options)
    const before = [world.dump(), world.files()]
    for (const attempt of requests) await check(world, attempt)
    if (play) expect(await play(world)).toEqual(equals)
    if (!writes) expect([world.dump(), world.files()]).toEqual(before)
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(own)
    // A fault of the server is logged. None of these requests is one.
    expect(log.error.mock.calls).toEqual([])
    if (control) await check(world, control)
  })
})

it('each case has a number or a kind of its own, and each cause has cases', () => {
  const names = CASES.map(({ system, id }) => `${system} ${id}`)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(CASES.length).toBeGreaterThanOrEqual(60)
  for (const cause of CAUSES) expect(CASES.some(entry => entry.cause === cause), cause).toBe(true)
})
