/** Makes a request smaller as long as its responses still differ, and finds the change on which they depend. */
import type { TestClient } from '../api/client'
import { findDifference, type Known } from './compare'
import { send, type Exchange, type SentRequest } from './sent'
import type { Worlds } from './worlds'

export interface Found {
  readonly sent: SentRequest
  readonly difference: string
  readonly first: Exchange['response']
  readonly second: Exchange['response']
  /** The change of the database that makes the difference. Absent if no single change does. */
  readonly cause?: string
}

interface Place {
  readonly client: TestClient
  readonly worlds: Worlds
  readonly known: Known
}

const MAX_PASSES = 6

export async function reduce({ client, worlds, known }: Place, found: Found): Promise<Found> {
  let smallest = found
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const smaller = await firstDifferent({ client, worlds, known }, smallerThan(smallest.sent))
    if (!smaller) break
    smallest = smaller
  }
  for (const change of worlds.changes) {
    const second = await worlds.withChanges([change], () => send(client, smallest.sent))
    // The ids of new records depend on all changes.
    const isSame = smallest.sent.method === 'GET' || second.text === smallest.second.text
    if (isSame && findDifference(known, smallest.sent, smallest.first, second)) return { ...smallest, second, cause: change.text }
  }
  return smallest
}

/** Sends requests in both worlds. @returns the first one whose responses differ */
export async function firstDifferent({ client, worlds, known }: Place, requests: readonly SentRequest[]): Promise<Found | undefined> {
  if (requests.length === 0) return undefined
  await worlds.enter(0)
  const firsts: Exchange[] = []
  for (const sent of requests) firsts.push({ sent, response: await send(client, sent) })
  await worlds.enter(1)
  try {
    for (const { sent, response: first } of firsts) {
      const second = await send(client, sent)
      const difference = findDifference(known, sent, first, second)
      if (difference) return { sent, difference, first, second }
    }
    return undefined
  }
  finally {
    await worlds.enter(0)
  }
}

/** The same request without one of its parts. A dry run stays one. */
function smallerThan(sent: SentRequest): SentRequest[] {
  return [
    ...without(sent.query).filter(query => !sent.query?.dryRun || query.dryRun).map(query => ({ ...sent, query })),
    ...Array.isArray(sent.body) ? [] : without(sent.body as object | undefined).map(body => ({ ...sent, body })),
  ]
}

function without(value: object | undefined, depth = 3): Record<string, unknown>[] {
  if (!value || depth === 0) return []
  const entries = Object.entries(value)
  return entries.flatMap(([name, part], index): Record<string, unknown>[] => {
    const others = entries.filter((_, other) => other !== index)
    const parts = typeof part === 'object' && part !== null && !Array.isArray(part) ? without(part as object, depth - 1) : []
    return [Object.fromEntries(others), ...parts.map(smaller => Object.fromEntries(entries.with(index, [name, smaller])))]
  })
}
