/**
 * A check of the path as many apps write it in `server/middleware`: the path of the event begins with a text. The header `x-gate` holds the
 * texts, so that a test can close any part of an app. What the API serves of that part, this check has to see.
 */
import { defineEventHandler, getHeader, setResponseStatus } from 'h3'

export default defineEventHandler((event) => {
  const closed = getHeader(event, 'x-gate')?.split(' ') ?? []
  if (!closed.some(path => event.path === path || ['/', '?'].some(next => event.path.startsWith(path + next)))) return
  setResponseStatus(event, 403)
  return { from: 'the gate' }
})
