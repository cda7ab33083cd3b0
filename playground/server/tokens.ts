/** Finds the owners of API tokens and webhooks, with their current roles. It runs on every request with a token. */
import type { FindUser } from 'nuxt-auto-api/plugins'
import { findCaller } from './utils/callers'

export const findUser: FindUser = userId => findCaller(userId) ?? null
