/** Collects what the API publishes on its tracing channels. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type {
  AuthorizeMessage, CommitMessage, HookMessage, RequestMessage, StatementMessage, Step,
} from '../../../src/runtime/server/core/process/trace'

type AnyMessage = Partial<RequestMessage & AuthorizeMessage & CommitMessage & HookMessage & StatementMessage>

export interface TracedEvent {
  readonly step: Step
  readonly event: string
  readonly message: AnyMessage
}

const STEPS: readonly Step[] = ['request', 'authorize', 'statement', 'hook', 'commit']
const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']

/** Collects events until `stop`. */
export function collect(steps: readonly Step[] = STEPS) {
  const events: TracedEvent[] = []
  const listeners = steps.flatMap(step => EVENTS.map((event) => {
    const listen = (message: unknown) => void events.push({ step, event, message: message as AnyMessage })
    return { name: `tracing:auto-api.${step}:${event}`, listen }
  }))
  for (const { name, listen } of listeners) subscribe(name, listen)
  return {
    events,
    /** The messages of a step, complete. */
    of: (step: Step) => events.filter(found => found.step === step && found.event === 'start').map(({ message }) => message),
    stop: () => {
      for (const { name, listen } of listeners) unsubscribe(name, listen)
    },
  }
}
