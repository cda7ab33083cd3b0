/** The three dialects' sample tables side by side, and a short way from tables to resources. */
import type { Table } from 'drizzle-orm'
import { createResources } from '../../../src/runtime/server/schema/resource'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AutoApiConfig, MultiTenancyConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import * as mysql from './mysql'
import * as pg from './pg'
import * as sqlite from './sqlite'

export const DIALECTS = [
  { dialect: 'sqlite', tables: sqlite },
  { dialect: 'pg', tables: pg },
  { dialect: 'mysql', tables: mysql },
] as const

export { mysql, pg, sqlite }

export type Resource = ReturnType<typeof createResources> extends ReadonlyMap<string, infer R> ? R : never

type Registrations = Record<string, Table | Omit<ResourceRegistration, 'name'>>

interface Around {
  /** Exports of the files that hold the tables. */
  modules?: readonly Record<string, unknown>[]
  config?: Partial<AutoApiConfig>
}

export function resourcesOf(registrations: Registrations, { modules = [], config = {} }: Around = {}): ReadonlyMap<string, Resource> {
  const list = Object.entries(registrations).map(
    ([name, value]) => ({ name, ...('schema' in value ? value : { schema: value }) }) as ResourceRegistration,
  )
  return createResources(list, modules, { ...DEFAULT_CONFIG, ...config })
}

/** One registration as a resource. */
export function resourceOf(registration: Table | Omit<ResourceRegistration, 'name'>, config: Partial<AutoApiConfig> = {}): Resource {
  return resourcesOf({ it: registration }, { config }).get('it')!
}

export const tenancy = (options: Partial<MultiTenancyConfig> = {}) => ({ multiTenancy: { ...DEFAULT_MULTI_TENANCY, ...options } })
