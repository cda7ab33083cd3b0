/**
 * Sets the caller. FOR THE DEMO ONLY: it trusts the header `x-demo-user`, or the cookie of the pages.
 * A real app sets the user of its session here. The API reads only `event.context`.
 */
import { findCaller } from '../utils/callers'

/** Anonymous callers read the Harbour Courier. */
const PUBLIC_ORGANIZATION_ID = 1

export default defineEventHandler((event) => {
  const user = findCaller(getHeader(event, 'x-demo-user') ?? getCookie(event, 'newsroom-caller'))
  if (user)
    event.context.user = user
  else
    event.context.tenantId = PUBLIC_ORGANIZATION_ID
})
