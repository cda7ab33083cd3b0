/** Two worlds that are equal for a caller: the database as it is, and the database after changes that the caller cannot see. */
import type { ServerApi } from '../../server/api/create'
import { invalidateResponses } from '../../server/plugin/invalidation'
import type { TestApi } from '../api/create'
import { applyChanges, proposeChanges, undoChanges, type Change } from './perturb'
import type { Random } from './random'
import { lookAs, type Sight } from './sight'

export interface Worlds {
  /** What the caller sees. The rows are those of each world. */
  readonly sights: readonly [Sight, Sight]
  /** Shows one of the worlds to the API. */
  readonly enter: (world: 0 | 1) => Promise<void>
  /** The changes from the first world to the second one. Empty if the test makes both. */
  readonly changes: readonly Change[]
  /** Applies some of the changes to the first world, sends requests, and undoes them. */
  readonly withChanges: <T>(changes: readonly Change[], run: () => Promise<T>) => Promise<T>
}

export interface Place {
  readonly api: TestApi
  readonly server: ServerApi
  readonly caller: string
}

/** Responses that the API stores do not notice a change that it has not made. */
const forget = ({ server }: Place) => invalidateResponses(server.services, [...server.resources.keys()])

/** Fills the database with the seeds of a test. @throws When the caller sees different things. */
export async function openSeeds(place: Place, seeds: readonly [() => unknown, () => unknown]): Promise<Worlds> {
  const enter = async (world: 0 | 1) => {
    await seeds[world]()
    await forget(place)
  }
  const look = async (world: 0 | 1) => {
    await enter(world)
    return await lookAs(place.api, place.server, place.caller)
  }
  const second = await look(1)
  const first = await look(0)
  const different = differenceOf(first, second)
  if (different.length > 0) {
    throw new Error(
      `[auto-api] The two worlds are not equal for ${place.caller}, so the test proves nothing: ${different.slice(0, 5).join('; ')}.`,
    )
  }
  return { sights: [first, second], enter, changes: [], withChanges: (_, run) => run() }
}

/** Changes what the caller cannot see. */
export async function openChanged(place: Place, random: Random): Promise<Worlds> {
  const first = await lookAs(place.api, place.server, place.caller)
  const db = first.db ?? (await anySight(place)).db
  const changes = await keepInvisible(place, db, first, proposeChanges(first, random))
  let applied: Change[] = []
  const leave = async () => {
    await undoChanges(db, applied)
    applied = []
    await forget(place)
  }
  const apply = async (wanted: readonly Change[]) => {
    await leave()
    applied = await applyChanges(db, wanted)
    await forget(place)
  }
  await apply(changes)
  const second = await lookAs(place.api, place.server, place.caller)
  await leave()
  const [different] = differenceOf(first, second)
  if (different !== undefined) {
    throw new Error(
      `[auto-api] What ${place.caller} sees has changed during the test: ${different}. A limit of invalid credentials can be the cause.`,
    )
  }
  return {
    sights: [first, second],
    changes,
    enter: world => world === 0 ? leave() : apply(changes),
    async withChanges(some, run) {
      await apply(some)
      try {
        return await run()
      }
      finally {
        await leave()
      }
    },
  }
}

async function anySight({ api, server }: Place): Promise<Sight> {
  for (const caller of api.callers) {
    const sight = await lookAs(api, server, caller)
    if (sight.db) return sight
  }
  throw new Error('[auto-api] The API refuses every caller, so no request finds its database.')
}

/** Leaves out changes that the caller could see, such as those of a hidden column by which a row filter decides. */
async function keepInvisible(place: Place, db: unknown, first: Sight, proposed: readonly Change[]): Promise<Change[]> {
  const kept: Change[] = []
  const add = async (groups: readonly (readonly Change[])[]): Promise<void> => {
    if (groups.length === 0) return
    const applied = await applyChanges(db, groups.flat())
    if (differenceOf(first, await lookAs(place.api, place.server, place.caller)).length === 0) return void kept.push(...applied)
    await undoChanges(db, applied)
    if (groups.length === 1) return
    const half = Math.ceil(groups.length / 2)
    await add(groups.slice(0, half))
    await add(groups.slice(half))
  }
  const groups = new Map<string, Change[]>()
  for (const change of proposed) groups.set(change.group, [...groups.get(change.group) ?? [], change])
  await add([...groups.values()])
  await undoChanges(db, kept)
  return kept
}

/** @returns what the caller sees in only one of them, or differently */
export function differenceOf({ facts }: Sight, other: Sight): string[] {
  const names = new Set([...facts.keys(), ...other.facts.keys()])
  return [...names].filter(name => facts.get(name) !== other.facts.get(name))
}
