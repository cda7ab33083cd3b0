/** Typed placeholder of what the build knows for explanations. Only a development build has the generated module. */
import type { RuleSource } from '../../shared/explanation'

/** The files of the rules. */
export const sources: readonly RuleSource[] = []

/** What the development server adds to requests that come from this machine. Without it, the host of a request decides. */
export const secret: string = ''

/** The base URL of the app, without its last slash. */
export const base: string = ''

/** The folder of the app. */
export const rootDir: string = ''

/** The URL of the page's script, on the development server of Vite. */
export const script: string = ''
