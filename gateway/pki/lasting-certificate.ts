// A client certificate of the gateway: issued when it is first needed, and again before it ends.

import { type Authority, certificateLifetimes, type IssuedCertificate, issueClientCertificate } from "./pki.ts"

interface Issued {
  certificate: Promise<IssuedCertificate>
  /** Milliseconds since the epoch: the times at which it may be used. */
  from: number
  until: number
}

export class LastingCertificate {
  readonly #authority: Authority
  readonly #subject: { name: string; groups: string[] }
  #issued: Issued | undefined

  constructor(authority: Authority, subject: { name: string; groups: string[] }) {
    this.#authority = authority
    this.#subject = subject
  }

  /** Rejects if it cannot be issued; the next call tries again. */
  current(): Promise<IssuedCertificate> {
    const now = Date.now()
    // The clock may have been ahead when it was issued.
    if (this.#issued === undefined || this.#issued.until < now || now < this.#issued.from)
      this.#issued = this.#issue(now)
    return this.#issued.certificate
  }

  #issue(now: number): Issued {
    const certificate = issueClientCertificate(this.#authority, this.#subject)
    const { backdateMs, clientMs, renewBeforeMs } = certificateLifetimes
    const issued = { certificate, from: now - backdateMs, until: now + clientMs - renewBeforeMs }
    certificate.catch(() => {
      if (this.#issued === issued) this.#issued = undefined
    })
    return issued
  }
}
