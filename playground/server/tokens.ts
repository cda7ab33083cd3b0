/** Finds the owners of API tokens. It runs on every request with a token, so the token has the current role of its owner. */
import type { FindUser } from 'nuxt-auto-api/plugins'
import { findCaller } from './utils/callers'

export const findUser: FindUser = userId => findCaller(userId) ?? null
