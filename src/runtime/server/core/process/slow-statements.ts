/** Logs statements that take long. */
import { printable } from './log'
import { LOADED } from './node-modules'
import { channelName, type StatementMessage } from './trace'

/** A longer text is cut. */
const MAX_TEXT = 2000

/**
 * Logs the text of each statement that takes longer than a limit, with placeholders instead of its values. It does nothing on a platform
 * without `node:diagnostics_channel`.
 * @param limit in milliseconds
 * @returns a function that ends it
 */
export function logSlowStatements(limit: number): () => void {
  const listen = (message: unknown) => {
    const { duration = 0, text, resource, operation, rows } = message as StatementMessage
    if (duration <= limit) return
    const about = [resource, operation, rows === undefined ? '' : `${rows} ${rows === 1 ? 'row' : 'rows'}`].filter(Boolean).join(', ')
    const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text
    console.warn(`[auto-api] A statement took ${Math.round(duration)} ms${about && ` (${about})`}: ${printable(shown)}`)
  }
  const names = (['end', 'asyncEnd'] as const).map(event => `tracing:${channelName('statement')}:${event}`)
  for (const name of names) LOADED.diagnostics?.subscribe(name, listen)
  return () => {
    for (const name of names) LOADED.diagnostics?.unsubscribe(name, listen)
  }
}
