// What the objects of a definition are served by: its spec and its accepted names. When these change, and when the definition is
// deleted, its watches end, and clients open them again, as they would be served now. Source: crdHandler in
// k8s.io/apiextensions-apiserver/pkg/apiserver.

import { equalJson } from "../../apimachinery/equality.ts"

/** The definition as it is stored. */
interface StoredDefinition {
  key: string
  /** Its last revision that is known here. Not every change of it is another edition. */
  modRevision: number
  /** Its objects are being deleted. */
  isTerminating: boolean
}

export class Edition {
  readonly uid: string
  /** Undefined: nothing is stored by this edition. */
  definition: StoredDefinition | undefined
  #basis: unknown
  #next: Edition | "none" | undefined
  readonly #followers = new Set<() => void>()

  /** `basis`: whatever determines how objects are served. `uid`: that of the definition. */
  constructor(basis: unknown, uid = "") {
    this.#basis = basis
    this.uid = uid
  }

  /** Editions of one definition may be the same, although it was read again, as after the tenant has slept. */
  isSame(other: Edition | undefined): boolean {
    return other === this || (other !== undefined && equalJson(other.#basis, this.#basis))
  }

  /** Whether it goes on as the other, which was read later. Then it keeps the other's basis, so that none is kept twice. */
  goesOnAs(later: Edition): boolean {
    if (!this.isSame(later)) return false
    this.#basis = later.#basis
    return true
  }

  /** It is not served any more. `next`: what is served instead; undefined if the definition was deleted. */
  replace(next: Edition | undefined): void {
    this.#next = next ?? "none"
  }

  /** What is served now. Undefined: the definition was deleted. */
  get latest(): Edition | undefined {
    if (this.#next === undefined) return this
    return this.#next === "none" ? undefined : this.#next.latest
  }

  /** Called once, when the edition ends, unless the returned function is called before. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  end(): void {
    const followers = [...this.#followers]
    this.#followers.clear()
    for (const follower of followers) follower()
  }
}
