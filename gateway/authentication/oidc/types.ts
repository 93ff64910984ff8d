// An issuer of JWTs as a tenant configures it. Source: k8s.io/apiserver/pkg/apis/apiserver (JWTAuthenticator).

export interface ClaimOrExpression {
  claim?: string
  prefix?: string
  expression?: string
}

export interface Issuer {
  url?: string
  /** The URL of the issuer's document, if it is not below the issuer's URL. */
  discoveryURL?: string
  /** PEM. */
  certificateAuthority?: string
  audiences?: string[]
  audienceMatchPolicy?: string
  egressSelectorType?: string
}

export interface ClaimRule {
  claim?: string
  requiredValue?: string
  expression?: string
  message?: string
}

export interface ClaimMappings {
  username?: ClaimOrExpression
  groups?: ClaimOrExpression
  uid?: ClaimOrExpression
  extra?: { key?: string; valueExpression?: string }[]
}

export interface UserRule {
  expression?: string
  message?: string
}

export interface JWTAuthenticator {
  issuer?: Issuer
  claimValidationRules?: ClaimRule[]
  claimMappings?: ClaimMappings
  userValidationRules?: UserRule[]
}
