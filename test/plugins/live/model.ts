/** What each caller can read, as the API answers it, and the signals that a caller has to receive after the rows have changed. */
import type { World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'
import { readableBy, type Name } from './library'

type Records = ReadonlyMap<string, string>

/** The records of a moment that one caller can read, as JSON. */
export type View = ReadonlyMap<Name, Records>

/** The links of a moment: by the table and the row of the junction, the records on both sides. */
export type Links = ReadonlyMap<string, Link>

interface Link {
  readonly sides: readonly [readonly [Name, string], readonly [Name, string]]
  /** The record that is the link, if the junction is registered. */
  readonly record?: readonly [Name, string]
}

export async function viewOf(world: World, caller: Caller): Promise<View> {
  const view = new Map<Name, Records>()
  for (const name of readableBy(caller)) {
    const { status, body, text } = await world.request('GET', `/api/${name}?limit=100`, { caller })
    if (status !== 200 || body.meta.total > 100) throw new Error(`GET ${name}: ${status} ${text}`)
    view.set(name, new Map((body.data as { id: unknown }[]).map(record => [String(record.id), JSON.stringify(record)])))
  }
  return view
}

export function linksOf(world: World): Links {
  const tagged = world.rows('select id, post_id, tag_id from post_tags') as unknown[][]
  const reviewed = world.rows('select id, post_id, person_id from reviews') as unknown[][]
  return new Map<string, Link>([
    ...tagged.map(([id, post, tag]) => [`post_tags ${id as string}`, { sides: [['posts', String(post)], ['tags', String(tag)]] }] as [string, Link]),
    ...reviewed.map(([id, post, person]) => [`reviews ${id as string}`, {
      sides: [['posts', String(post)], ['people', String(person)]], record: ['reviews', String(id)],
    }] as [string, Link]),
  ])
}

/** A moment before a commit, between two of them, or after the last one. */
export interface Moment {
  readonly view: View
  readonly links: Links
}

/** The signals about some commits, whose rows are those of `moments`, the first and the last one included. */
export function signalsOf(moments: readonly Moment[]): readonly string[] {
  const last = moments.at(-1)!
  const has = (name: Name, id: string) => ({ view }: Moment) => view.get(name)?.has(id) === true
  const pairs = moments.slice(1).map((moment, index) => [moments[index]!, moment] as const)
  const signals: string[] = []
  for (const name of last.view.keys()) {
    const changed = pairs.flatMap(([before, after]) => changedLinks(before.links, after.links))
    const linked = new Set(changed.flatMap(({ sides: [one, other], record }) => {
      const isSeen = (other: readonly [Name, string]) => moments.some(has(...other))
      if (record && !isSeen(record)) return []
      return [[one, other] as const, [other, one] as const].flatMap(([own, other]) => own[0] === name && isSeen(other) ? [own[1]] : [])
    }))
    for (const id of new Set(moments.flatMap(({ view }) => [...view.get(name)?.keys() ?? []]))) {
      if (!has(name, id)(last)) signals.push(`gone ${name} ${id}`)
      else if (linked.has(id) || pairs.some(([before, after]) => before.view.get(name)!.get(id) !== after.view.get(name)!.get(id)))
        signals.push(`changed ${name} ${id}`)
    }
  }
  return signals.sort()
}

/** A link that another one replaces counts as two. */
function changedLinks(before: Links, after: Links): readonly Link[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, current] = [before.get(key), after.get(key)]
    return JSON.stringify(old?.sides) === JSON.stringify(current?.sides) ? [] : [old, current].filter(link => link !== undefined)
  })
}
