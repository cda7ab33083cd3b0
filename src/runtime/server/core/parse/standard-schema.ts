/** Runs a Standard Schema of any validator, and returns its issues in one form. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { validationFailed, type Issue } from '../error'

/** @throws `VALIDATION_FAILED` */
export async function validate(schema: StandardSchemaV1, value: unknown): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (result.issues) throw validationFailed(toIssues(result.issues))
  return result.value
}

export function toIssues(issues: readonly StandardSchemaV1.Issue[] = []): Issue[] {
  return issues.map(issue => ({
    path: (issue.path ?? [])
      .map(part => (typeof part === 'object' ? part.key : part))
      .map(part => (typeof part === 'number' ? part : String(part))),
    message: issue.message,
    code: String((issue as { code?: unknown }).code ?? 'invalid'),
  }))
}
