/** The table of cases. */
import type { Case } from '../case'
import { ENTRIES } from './entries'
import { IDENTITIES } from './identity'
import { BOUNDS } from './limits'
import { OTHERS } from './others'
import { VALUES } from './values'
import { WRITES } from './writes'

export const CASES: readonly Case[] = [...ENTRIES, ...VALUES, ...WRITES, ...IDENTITIES, ...BOUNDS, ...OTHERS]
