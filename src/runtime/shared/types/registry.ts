/** The registry of resources at build time, for Nuxt modules and for plugins. */
import type { NestedAction } from '../nested'
import type { Operation } from '../operations'
import type { ModuleImport } from './module-import'

/** The parts of a resource. Pass code as a module import and not inline, because only the server loads it. */
export interface RegistrationOptions {
  /** The Drizzle table or view. */
  schema: ModuleImport
  /** Permissions of the resource. A resource without authorization refuses every request, and the build warns. */
  authorization?: ModuleImport
  /** Schemas for `create` and `update`. If a schema is missing, the server generates it from the table. */
  validation?: ModuleImport
  /** Hooks before and after the operations of the resource. */
  hooks?: ModuleImport
  /** The form of the values of columns in requests and responses. Custom types need it if JSON cannot represent their values. */
  wire?: ModuleImport
  /** Fields whose values the database computes: an object of the functions of `computed`. */
  computed?: ModuleImport
  /** The Drizzle `relations()` of the table. They give each relation its name. */
  relations?: ModuleImport
  /**
   * The columns that identify a row of a view or of a table without a primary key. They must be NOT NULL, and no two rows can have the same
   * values.
   * @default the primary key, otherwise the shortest unique constraint or index over columns that are NOT NULL
   */
  key?: string | string[]
  /**
   * The columns of a view that contain the primary key of a row of another resource, with the name of this resource. Both resources get a
   * relation, as from a foreign key. Only views have this option.
   * @default {}
   * @example { authorId: 'users' }
   */
  references?: Record<string, string>
  /**
   * The resources whose commits change the rows of a view: those of the tables that it reads. The response cache stores the rows of a view
   * only if this option names them. Only views have this option.
   */
  tracks?: string[]
  /** The children that the body of a create or an update can contain, by relation: what it can do with them. @default none */
  nested?: Record<string, NestedAction[]>
  /**
   * Names of fields that no response contains and no query can use.
   * @default []
   */
  hiddenFields?: string[]
  /**
   * Names of fields that the server removes from request bodies. Hooks can write these fields.
   * @default []
   */
  protectedFields?: string[]
  /**
   * Operations that the resource does not have for any caller. Their routes, including bulk routes, respond with 405, and their
   * composables do not accept the resource.
   * @default []
   */
  disabled?: Operation[]
  /**
   * `true` refuses updates, deletes, restores and purges without the tag of the record (`If-Match`) with 428 `PRECONDITION_REQUIRED`.
   * @default false
   */
  requireIfMatch?: boolean
  /**
   * Labels and custom JSON data for tools and forms: `label` of the resource, `fields` by field name, and keys of the app. Everybody who
   * can use the resource can read it in the description of the API, but the metadata of a field only if they can use the field.
   * @default {}
   * @example { label: 'Articles', icon: 'newspaper', fields: { publishedAt: { label: 'Published' } } }
   */
  metadata?: Record<string, unknown>
}

/** The argument of the `autoApi:registerSchema` hook. */
export interface ResourceRegistry {
  /**
   * Registers a resource.
   * @param name the name of the resource, which is also its segment in the URL
   * @throws AutoApiBuildError if the hook has already ended
   * @example
   * registry.register('posts', {
   *   schema: createModuleImport(resolve('./schema'), 'posts'),
   *   authorization: createModuleImport(resolve('./auth'), 'postsAuth'),
   * })
   */
  register: (name: string, registration: RegistrationOptions) => void
  /**
   * Replaces parts of a registration. The registration can come from another module, before or after this call.
   * @throws AutoApiBuildError if the hook has already ended
   * @example
   * registry.override('posts', { authorization: createModuleImport(resolve('./auth'), 'ourPostsAuth') })
   */
  override: (name: string, parts: Partial<RegistrationOptions>) => void
  /**
   * Adds fields to the `protectedFields` of a resource, because a plugin writes them. The server removes them from request bodies. The
   * resource can be registered before or after this call.
   * @throws AutoApiBuildError if the hook has already ended
   * @example
   * registry.protect('posts', ['cover'])
   */
  protect: (name: string, fields: readonly string[]) => void
}
