import { endUpAlike } from "./alike.ts"
import { scenarios } from "./scenarios/index.ts"

endUpAlike("our controllers and the real ones end up the same when a", scenarios)
