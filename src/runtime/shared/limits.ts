/** Bounds that are part of the contract and not configurable. */
export const LIMITS = Object.freeze({
  /** Values of one `$in`, `$nin` or array condition. */
  in: 500,
  /** Branches of one `$or`. */
  or: 20,
  /** Conditions of one query, those of includes counted with them. */
  conditions: 100,
  /** Characters of a query string. */
  queryLength: 64 * 1024,
  /** Nesting of a JSON parameter. */
  jsonDepth: 12,
  /** Nesting of a request body. */
  bodyDepth: 64,
  /** `$like` patterns of one query, those of includes counted with them. */
  likes: 8,
  /** Characters of one `$like` pattern. */
  likeLength: 256,
  /** Characters of all `$like` patterns of one query. */
  likeTotalLength: 512,
  /** Wildcards of one `$like` pattern. */
  wildcards: 16,
  /** Fields of one order. */
  sort: 20,
  /** Functions of one aggregate. */
  aggregates: 20,
  /** Validation issues, and ids that were not found, of one response. */
  issues: 100,
  /** Characters of a name that the client sent, where a message quotes it. */
  quotedName: 60,
  /** Characters of an id in an error, and of a validator's message. */
  errorText: 300,
  /** Rows that one batch of an `objectLevel` scan reads. */
  scanBatch: 500,
  /** Rows that an `objectLevel` scan judges where `objectLevelMaxRows` does not apply: pages that are not counted, links of a record. */
  scan: 100_000,
})
