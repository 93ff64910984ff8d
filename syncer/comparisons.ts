// Complete comparisons of tenants, at most one per tenant at a time: requests that arrive during a comparison share one that starts
// after it. (A watch that restarts reports for each kind that everything has been listed.)

export class Comparisons {
  readonly #compare: (tenant: string) => Promise<void>
  /** Tenants being compared; true: another comparison must follow. */
  readonly #underWay = new Map<string, boolean>()

  /** `compare` must not throw. */
  constructor(compare: (tenant: string) => Promise<void>) {
    this.#compare = compare
  }

  isBusy(tenant: string): boolean {
    return this.#underWay.has(tenant)
  }

  /** Starts at once, or after the comparison in progress. */
  async ask(tenant: string): Promise<void> {
    const isUnderWay = this.#underWay.has(tenant)
    this.#underWay.set(tenant, isUnderWay)
    if (isUnderWay) return
    do {
      this.#underWay.set(tenant, false)
      await this.#compare(tenant)
    } while (this.#underWay.get(tenant) === true)
    this.#underWay.delete(tenant)
  }
}
