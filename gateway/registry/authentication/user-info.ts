// A user in the format of the authentication API.

import type { User } from "../../request/user.ts"

export function userInfo({ name, uid, groups, extra }: User): Record<string, unknown> {
  const info: Record<string, unknown> = { username: name }
  if (uid !== undefined && uid !== "") info["uid"] = uid
  if (groups.length > 0) info["groups"] = [...groups]
  if (Object.keys(extra).length > 0) info["extra"] = { ...extra }
  return info
}
