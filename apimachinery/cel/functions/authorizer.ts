// authorizer.group("").resource("pods").check("get").allowed(). Authorization is asynchronous and evaluation is not: a check
// without an answer throws Unanswered, the caller obtains the answer and evaluates again. That is possible because expressions
// are pure, and the cost of a check allows only a few of them. Source: k8s.io/apiserver/pkg/cel/library/authz.go.

import { trimSpace } from "../../texts.ts"
import { dictionary } from "../../dictionary.ts"
import { CelError, OpaqueValue, type Value, type Implementation } from "../values.ts"

export interface AuthorizationQuery {
  /** Undefined for the user of the request. */
  serviceAccount: { namespace: string; name: string } | undefined
  verb: string
  /** Set for a non-resource request. */
  path: string | undefined
  group: string
  resource: string
  subresource: string
  namespace: string
  name: string
}

interface AuthorizationAnswer {
  allowed: boolean
  reason: string
  error: string | undefined
}

export class Unanswered extends Error {
  readonly query: AuthorizationQuery

  constructor(query: AuthorizationQuery) {
    super("an authorization check has no answer yet")
    this.query = query
  }
}

/** The answers for one request. */
export class AuthorizationAnswers {
  readonly #answers = new Map<string, AuthorizationAnswer>()

  answer(query: AuthorizationQuery, answer: AuthorizationAnswer): void {
    this.#answers.set(JSON.stringify(query), answer)
  }

  get(query: AuthorizationQuery): AuthorizationAnswer {
    const known = this.#answers.get(JSON.stringify(query))
    if (known === undefined) throw new Unanswered(query)
    return known
  }
}

const prefix = "kubernetes.authorization."

type Step = "Authorizer" | "PathCheck" | "GroupCheck" | "ResourceCheck"

/** All values from which a check is built; each step returns an extended copy. */
class Check extends OpaqueValue {
  readonly typeName: string
  readonly answers: AuthorizationAnswers
  readonly query: AuthorizationQuery

  constructor(step: Step, answers: AuthorizationAnswers, query: AuthorizationQuery) {
    super()
    this.typeName = `${prefix}${step}`
    this.answers = answers
    this.query = query
  }

  is(step: Step): boolean {
    return this.typeName === `${prefix}${step}`
  }

  with(step: Step, more: Partial<AuthorizationQuery>): Check {
    return new Check(step, this.answers, { ...this.query, ...more })
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Check && JSON.stringify(other.query) === JSON.stringify(this.query)
  }
}

class Decision extends OpaqueValue {
  readonly typeName = `${prefix}Decision`
  readonly answer: AuthorizationAnswer

  constructor(answer: AuthorizationAnswer) {
    super()
    this.answer = answer
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Decision && JSON.stringify(other.answer) === JSON.stringify(this.answer)
  }
}

const nothing: AuthorizationQuery = {
  serviceAccount: undefined,
  verb: "",
  path: undefined,
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
}

export function authorizerValue(answers: AuthorizationAnswers): Value {
  return new Check("Authorizer", answers, nothing)
}

/** authorizer.requestResource: the resource of the request itself. */
export function resourceCheckValue(answers: AuthorizationAnswers, query: Partial<AuthorizationQuery>): Value {
  return new Check("ResourceCheck", answers, { ...nothing, ...query })
}

function step(from: Step, make: (check: Check, text: string) => Value): Implementation {
  return ([check, text]) =>
    check instanceof Check && check.is(from) && typeof text === "string" ? make(check, text) : undefined
}

/** Field and label selectors narrow a check only for authorizers that use them; RBAC does not. */
const unchanged = step("ResourceCheck", (check) => check)

function ofDecision(make: (answer: AuthorizationAnswer) => Value): Implementation {
  return ([decision]) => (decision instanceof Decision ? make(decision.answer) : undefined)
}

function isDnsName(text: string, most: number, pattern: RegExp): boolean {
  return text.length <= most && pattern.test(text)
}

export const authorizerFunctions: Readonly<Record<string, Implementation>> = dictionary({
  allowed: ofDecision((answer) => answer.allowed),
  check: ([check, verb]) => {
    if (!(check instanceof Check) || typeof verb !== "string") return undefined
    if (!check.is("PathCheck") && !check.is("ResourceCheck")) return undefined
    return new Decision(check.answers.get({ ...check.query, verb }))
  },
  error: ofDecision((answer) => answer.error ?? ""),
  errored: ofDecision((answer) => answer.error !== undefined),
  fieldSelector: unchanged,
  group: step("Authorizer", (check, group) => check.with("GroupCheck", { group })),
  labelSelector: unchanged,
  name: step("ResourceCheck", (check, name) => check.with("ResourceCheck", { name })),
  namespace: step("ResourceCheck", (check, namespace) => check.with("ResourceCheck", { namespace })),
  path: step("Authorizer", (check, path) =>
    trimSpace(path) === "" ? new CelError("path must not be empty") : check.with("PathCheck", { path }),
  ),
  reason: ofDecision((answer) => answer.reason),
  resource: step("GroupCheck", (check, resource) =>
    trimSpace(resource) === "" ? new CelError("resource must not be empty") : check.with("ResourceCheck", { resource }),
  ),
  serviceAccount: ([check, namespace, name]) => {
    if (!(check instanceof Check) || typeof namespace !== "string" || typeof name !== "string") return undefined
    if (!isDnsName(name, 253, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)) {
      return new CelError("Invalid service account name")
    }
    if (!isDnsName(namespace, 63, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/))
      return new CelError("Invalid service account namespace")
    return check.with("Authorizer", { serviceAccount: { namespace, name } })
  },
  subresource: step("ResourceCheck", (check, subresource) => check.with("ResourceCheck", { subresource })),
})
