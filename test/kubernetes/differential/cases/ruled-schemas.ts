// Schemas of custom resources with rules.

export const text = { type: "string" }
export const number = { type: "integer" }
export const rule = (expression: string, more: object = {}): object => ({ rule: expression, ...more })
export const ruled = (schema: object, ...rules: (string | object)[]): object => ({
  ...schema,
  "x-kubernetes-validations": rules.map((one) => (typeof one === "string" ? rule(one) : one)),
})
