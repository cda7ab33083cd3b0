/** The parts of webhooks that run on the server. `nuxt.config` does not load this file. */
import { type AutoApiContext, requireSession, type Api } from '../../../server/kit/call'
import { useRuntime } from '../../../server/kit/api'
import { ApiError } from '../../../server/kit/errors'
import { bindingsOf } from '../../../server/kit/event'
import { runAfterResponse } from '../../../server/kit/process'
import type { TaskRun } from '../../../server/plugin/contract'
import type { PluginServer } from '../../../server/plugin/server'
import { createOutbox, takeDue } from './outbox'
import { createActions, type ActionOptions } from './actions'
import { openTables } from './tables'
import { createWorker } from './worker'

export type Webhooks = ReturnType<typeof createWebhooks>

const DAY = 24 * 60 * 60 * 1000

/** @throws When a resource is not registered, or its table lacks a column. */
export function createWebhooks(options: Pick<ActionOptions, 'policy' | 'issued' | 'findUser'>, plugins: PluginServer) {
  const { policy, findUser } = options
  const tables = openTables(policy, plugins)
  const worker = createWorker({ tables, policy, findUser })

  /** On workers, nothing runs after a request but what it waits for. */
  function deliverSoon(api: Api, event: object | undefined): void {
    if (bindingsOf(event) === undefined) worker.wakeAt(new Date(), api)
    else runAfterResponse(event as never, () => worker.run(api, event))
  }

  return {
    tables,
    queue: worker.queue,
    inCommit: createOutbox(tables),
    onCommit(ctx: AutoApiContext): void {
      if (takeDue(ctx)) deliverSoon(requireSession(ctx).api, ctx.event)
    },
    /** The task: finds what a server has left that was stopped. */
    deliver({ event }: TaskRun): unknown {
      const api = useRuntime(event).api()
      // On workers, the task lasts until everything is delivered.
      return bindingsOf(event) === undefined ? deliverSoon(api, event) : worker.run(api, event)
    },
    removeOld: ({ due, event }: TaskRun) => worker.queue.removeOld(event, new Date(due.getTime() - policy.retentionDays * DAY)),
    refuseUpdate(): never {
      const message = 'A delivery cannot be changed. `POST …/retry` sends it again.'
      throw new ApiError('METHOD_NOT_ALLOWED', message, { allowed: ['GET', 'DELETE'] }, undefined, { Allow: 'GET, DELETE' })
    },
    ...createActions({ ...options, tables, queue: worker.queue, plugins, deliverSoon }),
    stop: worker.stop,
    ended: worker.ended,
  }
}
