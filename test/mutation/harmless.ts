/** Changes that no test can notice, or that no test needs to notice, and why. A change that survives and is not listed here counts. */

export interface Harmless {
  readonly file: string
  /** The line of the code, without the spaces around it. */
  readonly line: string
  /** What the change puts there. */
  readonly becomes: string
  readonly reason: string
}

const ACCESS = 'src/runtime/server/core/access'

export const HARMLESS: readonly Harmless[] = [
  {
    file: `${ACCESS}/row-scope.ts`,
    line: 'const { where = [] } = plan as { where?: readonly Clause[] }',
    becomes: '["Stryker was here"]',
    reason: 'Every plan with a text search has conditions. The type does not say so.',
  },
  {
    file: `${ACCESS}/row-scope.ts`,
    line: 'return plan.related ? where.filter(clause => !plan.related!.clauses.includes(clause)) : where',
    becomes: 'where',
    reason: 'The conditions on related rows then apply twice, which finds the same rows in more time.',
  },
  {
    file: `${ACCESS}/row-scope.ts`,
    line: 'if (rules.length < 2) return rules[0]',
    becomes: 'false',
    reason: 'The function for several rules does the same for one rule, and accepts every row without rules.',
  },
  {
    file: `${ACCESS}/row-scope.ts`,
    line: 'if (tenant === \'none\') return [NO_ROWS]',
    becomes: 'false',
    reason: 'The tenant column is then compared with no value, which finds no rows either.',
  },
  {
    file: `${ACCESS}/row-scope.ts`,
    line: 'return table === resource.table ? field : { ...field, column: (table as unknown as Record<string, Column>)[field.name]! }',
    becomes: 'false',
    reason: 'The copy has the same column. The condition saves the copy.',
  },
]
