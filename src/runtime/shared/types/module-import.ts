/** References to exports of files, as `createModuleImport` of the build creates them. */

/** A reference to an export of a file. It is plain data, so a reference from another copy of this package works as well. */
export interface ModuleImport {
  readonly __moduleImport: true
  /** An absolute path, a path with an alias or the entry of a package. */
  readonly path: string
  /** The export's name; `default` for the default export. */
  readonly name: string
  /** A property of the export. A resource file exports all parts of its resource as one object. */
  readonly member?: string
  /** The names of the properties of this member, if the build knows them without loading the file. */
  readonly names?: readonly string[]
}
