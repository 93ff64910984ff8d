/** An allocation outside the store for a write in progress. Exactly one of the two functions is called. */
export interface Claim {
  commit(): void
  rollback(): Promise<void>
}
