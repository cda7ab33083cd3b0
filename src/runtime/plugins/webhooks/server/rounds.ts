/** Finds the webhooks whose deliveries are due, and gives each of them a turn. A slow receiver takes no place of the others for long. */
import { logError } from '../../../server/kit/process'
import type { WebhookRow } from './rows'
import { takeTurn, type TurnOptions } from './turn'

/** The webhooks that have a turn at the same time. */
const MAX_WEBHOOKS = 100
/** The webhooks whose last turns are remembered, so that those that wait come first. */
const MAX_REMEMBERED = 10_000

export type Rounds = ReturnType<typeof createRounds>

export function createRounds(options: TurnOptions) {
  const { queue, event, isStopped } = options
  const running = new Map<string, Promise<void>>()
  /** Those of `running` that have got further deliveries meanwhile. */
  const asked = new Set<string>()
  /** The number of the last turn of each webhook. */
  const lastTurns = new Map<string, number>()
  let turns = 0
  let isAsked = false
  /** Whether webhooks wait for the end of a turn. */
  let isFull = false
  let searching: Promise<void> | undefined

  async function search(): Promise<void> {
    while (isAsked && !isStopped()) {
      isAsked = false
      const due = await queue.dueWebhooks(event, new Date())
      const longest = due.toSorted((one, other) => (lastTurns.get(one.id) ?? 0) - (lastTurns.get(other.id) ?? 0))
      for (const webhook of longest) {
        if (running.has(webhook.id)) asked.add(webhook.id)
        else if (running.size < MAX_WEBHOOKS) running.set(webhook.id, run(webhook))
        else isFull = true
      }
    }
  }

  async function run(webhook: WebhookRow): Promise<void> {
    const { id } = webhook
    asked.delete(id)
    lastTurns.delete(id)
    lastTurns.set(id, ++turns)
    if (lastTurns.size > MAX_REMEMBERED) lastTurns.delete(lastTurns.keys().next().value!)
    let hasMore = false
    try {
      hasMore = await takeTurn(webhook, options)
    }
    catch (error) {
      logError({ event: event as object }, `webhooks: the deliveries of \`${id}\` could not be read or written.`, error)
    }
    running.delete(id)
    const wasAsked = asked.delete(id)
    if (!hasMore && !wasAsked && !isFull) return
    isFull = false
    ask()
  }

  function ask(): void {
    isAsked = true
    searching ??= search()
      .catch((error: unknown) => logError({ event: event as object }, 'webhooks: the deliveries could not be read.', error))
      .then(() => {
        searching = undefined
        if (isAsked && !isStopped()) ask()
      })
  }

  return {
    /** Looks for deliveries that are due. */
    ask,
    /** Waits until no delivery is due that this server can attempt. */
    async ended(): Promise<void> {
      while (searching || running.size > 0) await Promise.all([searching, ...running.values()])
    },
  }
}
