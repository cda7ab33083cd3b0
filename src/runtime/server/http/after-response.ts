/** Runs work after the response, in the time that the platform gives to it. */
import { platformOf, type HttpEvent } from './platform'
import { keepAlive, signalOf } from './stream'

/** An event whose response Node sends counts as done when its connection is closed or the response is complete. */
function untilSent(event: HttpEvent): Promise<void> {
  const response = platformOf(event).nodeResponse(event)
  return new Promise((resolve) => {
    const signal = response && !response.destroyed && !response.writableFinished ? signalOf(event) : undefined
    if (!signal || signal.aborted) return void setTimeout(resolve, 0)
    response!.once('close', resolve)
    signal.addEventListener('abort', () => resolve())
  })
}

/** Starts `work` after the response. On workers, the runtime keeps the request until the work is done. `work` must not throw. */
export function runAfterResponse(event: HttpEvent, work: () => Promise<void>): void {
  keepAlive(event, untilSent(event).then(work))
}
