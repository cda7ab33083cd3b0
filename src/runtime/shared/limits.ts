/** Maximum numbers for requests and responses. Apps cannot configure them. */
export const LIMITS = Object.freeze({
  /** Values of one `$in`, `$nin` or array condition. */
  in: 500,
  /** Branches of one `$or`. */
  or: 20,
  /** Conditions of one query, including those of its includes. */
  conditions: 100,
  /** Characters of a query string. */
  queryLength: 64 * 1024,
  /** Characters of a cursor. Many servers and proxies accept 8 or 16 kB of a URL with all headers. */
  cursor: 8 * 1024,
  /** Nesting levels of a JSON parameter. */
  jsonDepth: 32,
  /** `$and`, `$or` and `$not` around one condition. */
  combinations: 8,
  /** Relations in one path of a text `include`, whatever `relations.maxDepth` is. */
  includeDepth: 64,
  /** Nesting levels of a request body. */
  bodyDepth: 64,
  /** Levels of children below the parent in the body of a write. */
  nestedLevels: 3,
  /** Children in the body of one record, and in a whole bulk request. */
  nestedRows: 500,
  nestedRowsInAll: 2000,
  /** Fields of a form body. */
  formFields: 1000,
  /** `$like` patterns of one query, including those of its includes. */
  likes: 8,
  /** Characters of one `$like` pattern. */
  likeLength: 256,
  /** Characters of all `$like` patterns of one query. */
  likeTotalLength: 512,
  /** Wildcards of one `$like` pattern. */
  wildcards: 16,
  /** Fields in one `sort` parameter. */
  sort: 20,
  /** Functions in one `aggregate` parameter. */
  aggregates: 20,
  /** Validation issues, or ids that were not found, in one response. */
  issues: 100,
  /** Characters of a name from the request, if a message quotes the name. */
  quotedName: 60,
  /** Characters of an id in an error message, or of the message of a validation schema. */
  errorText: 300,
  /** Rows that `count=estimated` counts exactly. */
  counted: 10_000,
  /** Rows in one batch of an `objectLevel` scan. */
  scanBatch: 500,
  /** Rows in an `objectLevel` scan that computes no total, such as the scan for a page without a total or for the links of a record. */
  scan: 100_000,
})
