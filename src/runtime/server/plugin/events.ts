/** Events that no commit contains, such as an export: one plugin reports them, and plugins such as the audit log record them. */
import type { Awaitable } from '../core/awaitable'
import type { CallerContext } from '../core/entries/call'
import { defineService, type Services } from '../core/extensions/services'
import type { Query } from '../core/parse/params'
import type { AutoApiContext } from '../registration'

/** An event about the resource of the context. */
export interface ReportedEvent {
  /** What happened: `export` */
  readonly kind: string
  /** The names of the columns that it is about. */
  readonly columns: readonly string[]
  /** The parameters of the request. */
  readonly query: Query
  /** Further facts, as JSON. */
  readonly details: Readonly<Record<string, unknown>>
}

type Listener = (ctx: AutoApiContext, event: ReportedEvent) => Awaitable<void>

const LISTENERS = defineService<readonly Listener[]>('events')

/** Call it in `setup` of a plugin. */
export function listenToEvents(services: Services, listener: Listener): void {
  services.set(LISTENERS, [...services.get(LISTENERS) ?? [], listener])
}

/** @throws The error of a listener: what cannot be recorded must not begin. */
export async function reportEvent(services: Services, ctx: AutoApiContext, event: ReportedEvent): Promise<void> {
  for (const listener of services.get(LISTENERS) ?? []) await listener(ctx, event)
}

/** An event of the app. */
export interface Activity {
  /** The registered resource of the record. */
  readonly resource: string
  /** The id of the record, as the API returns it. */
  readonly id: string | number | bigint
  /** What happened, such as `published`: letters, digits, `-` and `_`, at most 64 characters. It is the `kind` of the entry. */
  readonly verb: string
  /**
   * Further values, as JSON. A key that is a field of the resource follows the rules of the field. Readers see the other keys if they see
   * the record.
   */
  readonly data?: Readonly<Record<string, unknown>>
}

/** A statement for `atomicWrites`. If it is awaited, it is committed by itself. */
export type RecordedActivity = ((db: unknown) => unknown) & PromiseLike<void>

/** @param withErrors converts the errors of the commit */
export type ActivityRecorder = (
  ctx: CallerContext, activity: Activity, withErrors: (run: () => Promise<void>) => Promise<void>,
) => RecordedActivity

const RECORDER = defineService<ActivityRecorder>('activity recorder')

/** Records the events of the app. Call it in `setup` of a plugin. */
export const provideRecorder = (services: Services, recorder: ActivityRecorder): void => services.set(RECORDER, recorder)

export const findRecorder = (services: Services): ActivityRecorder | undefined => services.get(RECORDER)
