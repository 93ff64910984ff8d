// The mark of a store: a key that its first transaction writes, and with which its removal begins. Every other transaction has the
// condition that it is there, so that nobody writes to a store that another process has removed: neither one that was frozen or cut off
// meanwhile, nor an attempt that etcd applies late. The first transaction itself has no such condition: one that comes after the removal
// makes the store anew, and whoever has sent it tries to remove that (gateway/tenancy/other-tenants.ts).

import { closedError } from "../types.ts"
import type { TxnRequest, TxnResponse } from "./wire.ts"

export class Mark {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Adds the condition to a transaction. The function throws Closed if it did not hold. */
  require({ compare, success, failure }: TxnRequest): (response: TxnResponse) => void {
    if (success.some(({ request_put: put }) => put !== undefined && this.#key.equals(put.key))) return () => undefined
    const key = this.#key
    compare.push({ result: 1, target: 2, key, mod_revision: 0 })
    failure.push({ request_range: { key, keys_only: true } })
    return ({ succeeded, responses }) => {
      if (!succeeded && responses.at(-1)?.response_range?.kvs.length === 0) throw closedError()
    }
  }
}
