import { expect, test } from "vitest"
import { atOnce } from "../../../../apimachinery/steps.ts"
import type { Webhook } from "../../../admission/webhooks/configuration.ts"
import { validatingWebhooks } from "./validate.ts"

const rule = (resources: string[], more: object = {}) => ({
  operations: ["CREATE"],
  apiGroups: [""],
  apiVersions: ["v1"],
  resources,
  ...more,
})

const hook = (more: object = {}): Webhook => ({
  name: "a.b.c",
  clientConfig: { url: "https://host/path" },
  rules: [rule(["pods"])],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...more,
})

const at = "webhooks[0]"
// kube-apiserver v1.36's responses.
test.each<[object, string[]]>([
  [{}, []],
  [{ name: "" }, [`${at}.name: Required value`]],
  [
    { name: "a.b" },
    [`${at}.name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`],
  ],
  [{ rules: [rule(["pods"], { operations: [] })] }, [`${at}.rules[0].operations: Required value`]],
  [
    { rules: [rule(["*", "pods"], { operations: ["*", "CREATE"], apiGroups: ["*", "apps"] })] },
    [
      `${at}.rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      `${at}.rules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`,
      `${at}.rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  ],
  [
    { rules: [rule(["pods/*", "pods/status"])] },
    [`${at}.rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`],
  ],
  [
    { timeoutSeconds: 31 },
    [`${at}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`],
  ],
  [{ sideEffects: "Some" }, [`${at}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`]],
  [{ sideEffects: undefined }, [`${at}.sideEffects: Required value: must specify one of None, NoneOnDryRun`]],
  [{ admissionReviewVersions: [] }, [`${at}.admissionReviewVersions: Required value: must specify one of v1, v1beta1`]],
  [
    { clientConfig: { url: "http://u:p@/?a=b#c" } },
    [
      `${at}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      `${at}.clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`,
      `${at}.clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL`,
      `${at}.clientConfig.url: Invalid value: "c": fragments are not permitted in the URL`,
      `${at}.clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL`,
    ],
  ],
  [{ clientConfig: {} }, [`${at}.clientConfig: Required value: exactly one of url or service is required`]],
  [
    { clientConfig: { service: { name: "", namespace: "", path: "x//y", port: 70_000 } } },
    [
      `${at}.clientConfig.service.name: Required value`,
      `${at}.clientConfig.service.namespace: Required value`,
      `${at}.clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
      `${at}.clientConfig.service.path: Invalid value: "x//y": must start with a '/'`,
      `${at}.clientConfig.service.path: Invalid value: "x//y": segment[0] may not be empty`,
      `${at}.clientConfig.service.path: Invalid value: "x//y": segment[1] may not be empty`,
    ],
  ],
  [
    { reinvocationPolicy: "Sometimes" },
    [`${at}.reinvocationPolicy: Unsupported value: "Sometimes": supported values: "IfNeeded", "Never"`],
  ],
  [
    {
      matchConditions: [
        { name: "", expression: " " },
        { name: "a", expression: "object.foo" },
        { name: "a", expression: "true" },
      ],
    },
    [
      `${at}.matchConditions[0].expression: Required value`,
      `${at}.matchConditions[0].name: Required value`,
      `${at}.matchConditions[1].expression: Invalid value: "object.foo": must evaluate to bool but got dyn`,
      `${at}.matchConditions[2].name: Duplicate value: "a"`,
    ],
  ],
])("a webhook with %j", (more, errors) => {
  expect(atOnce(validatingWebhooks([hook(more)], true)).map((error) => error.message())).toEqual(errors)
})

test("names in a configuration must be unique", () => {
  const errors = atOnce(validatingWebhooks([hook(), hook()], false))
  expect(errors.map((error) => error.message())).toEqual(['webhooks[1].name: Duplicate value: "a.b.c"'])
})
