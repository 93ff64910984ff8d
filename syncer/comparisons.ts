// Comparing tenants whole, one comparison of each at a time: what asks for another one meanwhile gets one that begins afterwards,
// however many ask. (A stream that starts anew tells of each kind that all of it has been seen.)

export class Comparisons {
  readonly #compare: (tenant: string) => Promise<void>
  /** Those under way; true: once more. */
  readonly #underWay = new Map<string, boolean>()

  /** `compare` must not fail. */
  constructor(compare: (tenant: string) => Promise<void>) {
    this.#compare = compare
  }

  isBusy(tenant: string): boolean {
    return this.#underWay.has(tenant)
  }

  /** Begins at once, or when the one under way has ended. */
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
