/** What plugins listen to: requests, responses, changes of rows. Services that plugins offer to each other. */
export {
  type Change,
  CHANGE_KINDS,
  type ChangedRows,
  type CommitParticipant,
  type CommitStatement,
  REPORTED,
} from '../core/extensions/changes'
export type { CredentialCaller } from '../core/extensions/credentials'
export type { AroundInfo, ArrivingRequest, IncomingRequest, Listeners, ResponseListener } from '../core/extensions/listeners'
export type { CheckRow } from '../core/extensions/row-filters'
export { defineService, type Services } from '../core/extensions/services'
export type { WatchedRow } from '../core/extensions/watchers'
