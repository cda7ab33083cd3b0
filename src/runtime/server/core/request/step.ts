/** Marks the context of several writes in one commit. */
import type { AutoApiContext } from '../../registration'

const STEP = Symbol('step')

export const markSteps = (ctx: AutoApiContext): void => void Object.assign(ctx, { [STEP]: true })

/** Whether the context is that of a step: its response has no place for what a plugin adds to the response of a route. */
export const isStep = (ctx: object): boolean => STEP in ctx
