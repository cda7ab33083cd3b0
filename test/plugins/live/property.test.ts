/** Whatever is written, each stream names exactly the records that its caller has to read again, and no other. */
import fc from 'fast-check'
import { afterEach, beforeAll, expect, it } from 'vitest'
import type { World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'
import { byTier } from '../../support/tiers'
import { FORGOTTEN, idle, pass, settle, startClock, stopClock } from './clock'
import { listen, type Listener } from './feed'
import { callers, openLibrary, readableBy } from './library'
import { linksOf, signalsOf, viewOf, type Moment } from './model'
import { send, write } from './writes'

const RUNS = Number(process.env.RUNS ?? byTier({ push: 60, full: 1000, release: 10_000 }))

/** Another team or other permissions for a caller, who finds out when the server resolves it again. */
const turn = fc.record({ caller: fc.constantFrom('editor', 'reader', 'other'), team: fc.constantFrom(1, 2), isEditor: fc.boolean() })

const script = fc.array(fc.oneof(
  { weight: 12, arbitrary: fc.record({ write, settles: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ turn }) },
), { minLength: 1, maxLength: 12 })

let world: World
beforeAll(async () => {
  world = await openLibrary()
})
afterEach(startClock)

interface Subscriber {
  readonly caller: Caller
  readonly stream: Listener
  taken: number
  moments: Moment[]
}

async function follow(caller: Caller): Promise<Subscriber> {
  const stream = await listen(world, readableBy(caller).join(), caller)
  await idle()
  expect(stream.status).toBe(200)
  return { caller, stream, taken: stream.events.length, moments: [await momentOf(caller)] }
}

const momentOf = async (caller: Caller): Promise<Moment> => ({ view: await viewOf(world, caller), links: linksOf(world) })

function take(subscriber: Subscriber): readonly string[] {
  const { events } = subscriber.stream
  const found = events.slice(subscriber.taken)
  subscriber.taken = events.length
  return found.map(({ event, data }) => 'resource' in data ? `${event} ${String(data.resource)} ${String(data.id)}` : event).sort()
}

async function assertSignals(subscribers: ReadonlyMap<string, Subscriber>): Promise<void> {
  await settle()
  for (const [name, subscriber] of subscribers) {
    expect({ name, signals: take(subscriber) }).toEqual({ name, signals: signalsOf(subscriber.moments) })
    subscriber.moments = [subscriber.moments.at(-1)!]
  }
}

async function run(steps: typeof script extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  world.reset()
  stopClock()
  const subscribers = new Map<string, Subscriber>()
  try {
    for (const [name, caller] of Object.entries(callers())) subscribers.set(name, await follow(caller))
    for (const step of steps) {
      if ('turn' in step) {
        await assertSignals(subscribers)
        await changeCaller(subscribers.get(step.turn.caller)!, step.turn)
        continue
      }
      await send(world, step.write)
      for (const { caller, moments } of subscribers.values()) moments.push(await momentOf(caller))
      if (step.settles) await assertSignals(subscribers)
    }
    await assertSignals(subscribers)
  }
  finally {
    for (const { stream } of subscribers.values()) stream.close()
    await pass(FORGOTTEN)
    startClock()
  }
}

async function changeCaller(
  subscriber: Subscriber, { team, isEditor }: { readonly team: number, readonly isEditor: boolean },
): Promise<void> {
  const { caller, moments } = subscriber
  caller.user = { ...caller.user, team }
  caller.permissions = [...caller.permissions?.includes('reviews') ? ['reviews'] : [], ...isEditor ? ['editor'] : []]
  const [before, after] = [moments.at(-1)!, await momentOf(caller)]
  await pass(80_000)
  const signals = take(subscriber)
  const text = ({ view }: Moment) => JSON.stringify([...view].map(([name, records]) => [name, [...records]]))
  expect(text(before) === text(after) ? 'reset' : signals.join()).toBe('reset')
  subscriber.moments = [after]
}

it('names exactly the records that the caller has to read again, for every write and every caller', async () => {
  await fc.assert(fc.asyncProperty(script, run), { numRuns: RUNS })
}, 60_000 + RUNS * 500)
