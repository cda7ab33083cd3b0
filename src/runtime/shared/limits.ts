/** Limits of requests and responses that cannot be configured. */
export const LIMITS = Object.freeze({
  /** Values of one `$in`, `$nin` or array condition. */
  in: 500,
  /** Branches of one `$or`. */
  or: 20,
  /** Conditions of one query, including those of its includes. */
  conditions: 100,
  /** Characters of a query string. */
  queryLength: 64 * 1024,
  /** Nesting of a JSON parameter. */
  jsonDepth: 12,
  /** Nesting of a request body. */
  bodyDepth: 64,
  /** `$like` patterns of one query, including those of its includes. */
  likes: 8,
  /** Characters of one `$like` pattern. */
  likeLength: 256,
  /** Characters of all `$like` patterns of one query. */
  likeTotalLength: 512,
  /** Wildcards of one `$like` pattern. */
  wildcards: 16,
  /** Fields of one `sort`. */
  sort: 20,
  /** Functions of one aggregate. */
  aggregates: 20,
  /** Validation issues, or ids that were not found, in one response. */
  issues: 100,
  /** Characters of a name from the request that a message quotes. */
  quotedName: 60,
  /** Characters of an id in an error, or of a message of a validation schema. */
  errorText: 300,
  /** Rows of one batch of an `objectLevel` scan. */
  scanBatch: 500,
  /** Rows of one `objectLevel` scan to which `objectLevelMaxRows` does not apply: pages without a total, links of a record. */
  scan: 100_000,
})
